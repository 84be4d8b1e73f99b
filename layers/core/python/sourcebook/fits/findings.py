"""What ends the examination of a file early."""

from __future__ import annotations

from typing import Final

from sourcebook.errors import SourcebookError
from sourcebook.fits.model import FailedDownload, QuarantineCode, SpectrumOutcome, TerminalCode

_OUTCOMES: Final = {
    QuarantineCode: SpectrumOutcome.QUARANTINED,
    TerminalCode: SpectrumOutcome.TERMINAL_INVALID,
    FailedDownload: SpectrumOutcome.NOT_A_SPECTRUM_FILE,
}


class Finding(SourcebookError):
    """The file's fate is known; the rest of it need not be looked at.

    Never leaves `sourcebook.fits.check`, which makes a `Verdict` of it.

    Attributes:
        outcome: what becomes of the file, by the kind of the code.
        code: the reason's code.
    """

    def __init__(
        self, message: str, code: QuarantineCode | TerminalCode | FailedDownload = QuarantineCode.OTHER
    ) -> None:
        self.code = code.value
        self.outcome = _OUTCOMES[type(code)]
        super().__init__(message)
