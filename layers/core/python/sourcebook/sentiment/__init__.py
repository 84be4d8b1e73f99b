"""What is felt about each subject."""

from typing import Final

SCHEMA_VERSION: Final = "1"
"""Version of this package's items. The one of `events` would load pydantic, which the API must not."""
