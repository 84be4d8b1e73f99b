"""Search over the analyzed articles: an index of SQLite's FTS5, one file a day in the bucket.

`folding` makes words of text, `query` reads what a person asks for, `day` is the index of one day, `days`
keeps the days in the bucket, `index` writes articles into them and `read` finds them.
"""
