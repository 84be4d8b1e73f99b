"""What ends the examination of a file early."""

from __future__ import annotations

from sourcebook.errors import SourcebookError
from sourcebook.fits.model import FailedDownload, QuarantineCode, SpectrumOutcome, TerminalCode


class Finding(SourcebookError):
    """The file's fate is known; the rest of it need not be looked at.

    Never leaves `sourcebook.fits.check`, which makes a `Verdict` of it.

    Attributes:
        outcome: what becomes of the file.
        code: the reason's code.
    """

    def __init__(self, outcome: SpectrumOutcome, code: str, message: str) -> None:
        self.outcome = outcome
        self.code = code
        super().__init__(message)


def failed_download(code: FailedDownload, message: str) -> Finding:
    """Return the finding that what came is not the file, or not all of it."""
    return Finding(SpectrumOutcome.NOT_A_SPECTRUM_FILE, code.value, message)


def nothing_for_us(code: TerminalCode, message: str) -> Finding:
    """Return the finding that the file is whole and holds no spectrum for the catalogue."""
    return Finding(SpectrumOutcome.TERMINAL_INVALID, code.value, message)


def for_a_person(code: QuarantineCode, message: str) -> Finding:
    """Return the finding that only a person can decide."""
    return Finding(SpectrumOutcome.QUARANTINED, code.value, message)
