"""The catalogue of novae: one identity from many names."""
