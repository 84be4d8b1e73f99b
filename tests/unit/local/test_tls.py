from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from sourcebook_local import tls

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime.now(UTC)


def shake_hands(files: tls.Certificates, trusted: ssl.SSLContext, name: str) -> None:
    """Let a client that trusts `trusted` connect to a server with these certificates, in memory."""
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(files.certificate, files.key)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusted.wrap_bio(to_client, to_server, server_hostname=name)
    server = served.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert client.getpeercert()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "abc123.execute-api.localhost"])
def test_the_bundle_makes_a_strict_client_trust_the_server(tmp_path: Path, name: str) -> None:
    files = tls.ensure(tmp_path, lambda: NOW)
    trusted = ssl.create_default_context(cafile=str(files.bundle))
    # What Python 3.13 does by default.
    trusted.verify_flags |= ssl.VERIFY_X509_STRICT
    shake_hands(files, trusted, name)


def test_without_the_bundle_it_is_not_trusted(tmp_path: Path) -> None:
    files = tls.ensure(tmp_path, lambda: NOW)
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(files, ssl.create_default_context(), "localhost")


def test_another_name_is_not_covered(tmp_path: Path) -> None:
    files = tls.ensure(tmp_path, lambda: NOW)
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(files, ssl.create_default_context(cafile=str(files.bundle)), "example.org")


def test_the_bundle_also_holds_what_this_machine_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    company = tls.ensure(tmp_path / "company", lambda: NOW)
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(company.bundle))
    files = tls.ensure(tmp_path / "own", lambda: NOW)
    shake_hands(company, ssl.create_default_context(cafile=str(files.bundle)), "localhost")


def test_certificates_are_kept_until_near_their_end(tmp_path: Path) -> None:
    first = tls.ensure(tmp_path, lambda: NOW).certificate.read_bytes()
    assert tls.ensure(tmp_path, lambda: NOW + timedelta(days=60)).certificate.read_bytes() == first
    assert tls.ensure(tmp_path, lambda: NOW + timedelta(days=89)).certificate.read_bytes() != first


def test_the_key_is_for_its_owner_only(tmp_path: Path) -> None:
    assert tls.ensure(tmp_path, lambda: NOW).key.stat().st_mode & 0o077 == 0
