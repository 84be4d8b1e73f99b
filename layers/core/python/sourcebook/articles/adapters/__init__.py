"""How each kind of source is asked for its articles."""
