"""The `sourcebook` command."""
