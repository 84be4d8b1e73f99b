"""Training and evaluation of the sentiment engines. Nothing here is needed to run or test the project."""
