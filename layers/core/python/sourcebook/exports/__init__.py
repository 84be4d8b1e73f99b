"""Taking away whole days of records: files in the bucket that other programs read as they lie.

`datasets` says what there is, `period` which days, `days` writes them, and `read` lists what was written.
"""
