"""The photometry of novae: uploads, and each nova's one table."""
