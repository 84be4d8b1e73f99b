"""What the table holds: one module a record, each the only place where its fields are declared.

`base` says what a record can do; `schema` makes its JSON Schema, for whoever describes the API.
"""
