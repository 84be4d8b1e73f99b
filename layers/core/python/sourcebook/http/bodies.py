"""Reading bodies whose size and encoding somebody else chose, never holding more than the cap."""

from __future__ import annotations

import hashlib
import zlib
from io import BytesIO
from typing import Protocol

from sourcebook.http.errors import FetchCause, FetchError, fetch_error

ACCEPT_ENCODING = "gzip, deflate"
"""Only what `zlib` can decompress up to a given size and no further."""

# IANA HTTP Content Coding Registry. Anything else in Content-Encoding ("utf-8", "none", "binary") is a
# mistake of the server that says nothing about the body.
_GZIP = frozenset({"gzip", "x-gzip"})
_OTHER_CODINGS = frozenset(
    {"aes128gcm", "br", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress", "zstd"}
)
_GZIP_MAGIC = b"\x1f\x8b"
# bgzip writes a member for each 64 KB, so a real body within any sensible cap stays far below this;
# above it, the time goes into starting members that hold nothing.
_MOST_MEMBERS = 1024


class Sink(Protocol):
    """Where a long body goes: an open file, for one."""

    def write(self, data: bytes, /) -> object:
        """Add the next bytes."""


class BodyReader:
    """Collects one response body: `feed` the bytes as they arrive, then `finish`, and `close` in any case.

    At no time holds more than `max_bytes` of output plus one chunk; with a `sink`, to which the output then
    goes, no more than one chunk.

    Attributes:
        received: bytes that have come, as they were sent.
    """

    def __init__(self, url: str, content_encoding: str, max_bytes: int, sink: Sink | None = None) -> None:
        self._url = url
        self._max_bytes = max_bytes
        self.received = 0
        self._digest = hashlib.sha256()
        self._collected = BytesIO()
        self._body: Sink = self._collected if sink is None else sink
        self._room = max_bytes
        self._coding = self._choose(content_encoding)
        self._decoder: zlib._Decompress | None = None
        # Bytes that are too few to tell what they begin.
        self._undecided = b""
        self._members = 0
        self._ended = False

    def _choose(self, content_encoding: str) -> str:
        names = [part.strip().lower() for part in content_encoding.split(",")]
        codings = [name for name in names if name in _GZIP or name == "deflate" or name in _OTHER_CODINGS]
        if not codings:
            return "identity"
        if len(codings) > 1 or codings[0] in _OTHER_CODINGS:
            raise self._error(
                FetchCause.DECODE_ERROR,
                f"the body is encoded as {', '.join(codings)[:60]}; only one of {ACCEPT_ENCODING} is read",
            )
        return "gzip" if codings[0] in _GZIP else "deflate"

    def expect(self, content_length: int) -> None:
        """Refuse a body that is announced as too large, before it is sent.

        Raises:
            FetchError: with the cause ``too_large``.
        """
        if content_length > self._max_bytes:
            raise self._error(
                FetchCause.TOO_LARGE,
                f"a body of {content_length} bytes is announced, at most {self._max_bytes} are read",
            )

    def feed(self, data: bytes) -> None:
        """Add the next bytes from the wire.

        Raises:
            FetchError: ``too_large`` over the cap, ``decode_error`` when the compression is broken.
        """
        self.received += len(data)
        # Also without any output: compressed streams can be endless and empty.
        if self.received > self._max_bytes:
            raise self._too_large()
        if self._body is not self._collected:
            self._digest.update(data)
        if self._coding == "identity":
            self._body.write(data)
        else:
            self._decompress(data)

    def _decompress(self, data: bytes) -> None:
        data = self._undecided + data
        self._undecided = b""
        while data and not self._ended:
            if self._decoder is None:
                if len(data) < 2:
                    self._undecided = data
                    return
                self._decoder = self._start(data)
                if self._decoder is None:
                    return
            decoder = self._decoder
            try:
                output = decoder.decompress(data, self._room + 1)
            except zlib.error as error:
                raise self._error(
                    FetchCause.DECODE_ERROR, f"the {self._coding} body is corrupt ({error})"
                ) from None
            self._room -= len(output)
            if self._room < 0:
                raise self._too_large()
            self._body.write(output)
            if not decoder.eof:
                return
            data = decoder.unused_data
            self._decoder = None

    def _start(self, data: bytes) -> zlib._Decompress | None:
        """Begin a gzip member or the deflate stream; None when `data` is only junk after the last one."""
        self._members += 1
        if self._coding == "gzip":
            if self._members > 1 and not data.startswith(_GZIP_MAGIC):
                # As browsers do: padding after the last member is no harm.
                self._ended = True
                return None
            if self._members > _MOST_MEMBERS:
                raise self._error(
                    FetchCause.DECODE_ERROR, f"the gzip body has more than {_MOST_MEMBERS} members"
                )
            return zlib.decompressobj(wbits=31)
        if self._members > 1:
            self._ended = True
            return None
        # "deflate" is zlib by RFC 9110, section 8.4.1.2, and raw deflate by the habit of some servers.
        is_zlib = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
        return zlib.decompressobj(wbits=15 if is_zlib else -15)

    def finish(self) -> bytes:
        """Return the whole body; nothing of it when it went to a sink.

        Raises:
            FetchError: ``truncated`` when the compressed stream stops before its end.
        """
        unfinished = self._decoder is not None or (self._undecided and self._members == 0)
        if unfinished:
            raise self._error(
                FetchCause.TRUNCATED, f"the {self._coding} body stops early, after {self.received} bytes"
            )
        return self._collected.getvalue()

    @property
    def sha256(self) -> str:
        """The digest, in hexadecimal, of the bytes that came for a sink, as they were sent."""
        return self._digest.hexdigest()

    def close(self) -> None:
        """Free what was collected; a sink is its owner's to close."""
        self._collected.close()
        self._decoder = None
        self._undecided = b""

    def _too_large(self) -> FetchError:
        return self._error(FetchCause.TOO_LARGE, f"the body is longer than {self._max_bytes} bytes")

    def _error(self, cause: FetchCause, detail: str) -> FetchError:
        return fetch_error(cause, self._url, detail)
