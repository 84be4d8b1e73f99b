"""Sources of every kind: their registry, who is due, and the round of polling."""
