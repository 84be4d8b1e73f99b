"""The bucket: documents, files and objects that are replaced with care."""
