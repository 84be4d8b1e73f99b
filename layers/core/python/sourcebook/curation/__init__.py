"""What a person decides of novae: two that are one, one that is two, one that is none."""
