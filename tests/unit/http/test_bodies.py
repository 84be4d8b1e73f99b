"""Decoding, whatever arrives and however it is cut."""

import gzip
import zlib
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.http.bodies import BodyReader
from sourcebook.http.errors import FetchCause, FetchError

LIMIT = 4096
codings = st.sampled_from(["gzip", "deflate", "identity"])


def decode(coding: str, data: bytes, size: int) -> bytes:
    with closing(BodyReader("http://example.org/", coding, LIMIT)) as reader:
        for start in range(0, len(data), size):
            reader.feed(data[start : start + size])
        return reader.finish()


@given(st.lists(st.binary(max_size=500), min_size=1, max_size=4), st.integers(1, 600))
def test_members_are_joined_wherever_the_pieces_are_cut(texts: list[bytes], size: int) -> None:
    assert decode("gzip", b"".join(map(gzip.compress, texts)), size) == b"".join(texts)


@given(st.binary(max_size=2000), st.integers(1, 600), st.booleans())
def test_both_kinds_of_deflate_wherever_the_pieces_are_cut(text: bytes, size: int, is_raw: bool) -> None:
    data = zlib.compress(text)
    assert decode("deflate", data[2:-4] if is_raw else data, size) == text


@given(
    codings,
    st.binary(max_size=5000),
    st.integers(1, 600),
    st.sampled_from([b"", b"\x1f\x8b\x08\x00", b"\x78\x9c"]),
)
def test_noise_is_decoded_or_has_a_cause(coding: str, noise: bytes, size: int, start: bytes) -> None:
    causes = {FetchCause.TOO_LARGE, FetchCause.DECODE_ERROR, FetchCause.TRUNCATED}
    outcome: bytes | FetchCause
    try:
        outcome = decode(coding, start + noise, size)
    except FetchError as error:
        outcome = error.cause
    assert outcome in causes if isinstance(outcome, FetchCause) else len(outcome) <= LIMIT


@given(st.integers(LIMIT - 2, LIMIT + 2), st.integers(1, 600))
def test_the_cap_is_exact(length: int, size: int) -> None:
    data = gzip.compress(bytes(length))
    if length <= LIMIT:
        assert len(decode("gzip", data, size)) == length
    else:
        with pytest.raises(FetchError) as caught:
            decode("gzip", data, size)
        assert caught.value.cause is FetchCause.TOO_LARGE
