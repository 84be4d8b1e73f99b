"""What is felt about each subject."""
