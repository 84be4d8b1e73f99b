"""The integrity checker: the table's invariants, held against each item, and what can be made right again.

Each invariant is one class, a `Check`: a new one is written, and listed in `checks.py`. docs/reliability.md
says what they hold the table to.
"""
