"""Certificates of a form that Python 3.13 refuses and browsers trust are trusted; others are not."""

from __future__ import annotations

import ssl
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sourcebook.http.connection import default_ssl_context


class OldChain:
    """An authority and a server's certificate without identifiers of their keys, as many old ones are."""

    def __init__(self, folder: Path, *, expired: bool = False) -> None:
        def name(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

        keys = {who: ec.generate_private_key(ec.SECP256R1()) for who in ("authority", "server")}
        now = datetime.now(UTC)
        end = now - timedelta(days=1) if expired else now + timedelta(days=1)

        def certificate(who: str, extension: x509.ExtensionType) -> x509.Certificate:
            made = (
                x509.CertificateBuilder()
                .subject_name(name(who))
                .issuer_name(name("authority"))
                .public_key(keys[who].public_key())
                .serial_number(x509.random_serial_number())
                .not_valid_before(now - timedelta(days=9))
                .not_valid_after(end)
                .add_extension(extension, critical=False)
            )
            return made.sign(keys["authority"], hashes.SHA256())

        pem = serialization.Encoding.PEM
        self.authority = folder / "authority.pem"
        self.authority.write_bytes(
            certificate("authority", x509.BasicConstraints(ca=True, path_length=None)).public_bytes(pem)
        )
        self.server = folder / "server.pem"
        leaf = certificate("server", x509.SubjectAlternativeName([x509.DNSName("old.example")]))
        key = keys["server"].private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        self.server.write_bytes(leaf.public_bytes(pem) + key)

    def shake_hands(self, client: ssl.SSLContext, name: str = "old.example") -> None:
        """Make a connection in memory, in which the client trusts the authority."""
        client.load_verify_locations(self.authority)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.server)
        there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
        ends = [
            client.wrap_bio(there, back, server_hostname=name),
            context.wrap_bio(back, there, server_side=True),
        ]
        for _ in range(4):
            for end in ends:
                try:
                    end.do_handshake()
                except ssl.SSLWantReadError:
                    continue


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every new context as strict as Python 3.13 makes it."""
    create = ssl.create_default_context

    def as_in_3_13(*arguments: object, **options: object) -> ssl.SSLContext:
        context = create(*arguments, **options)  # type: ignore[arg-type]
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", as_in_3_13)


@pytest.mark.usefixtures("strict")
def test_an_old_chain_is_trusted_by_our_client_and_refused_by_a_strict_one(tmp_path: Path) -> None:
    chain = OldChain(tmp_path)
    with pytest.raises(ssl.SSLCertVerificationError):
        chain.shake_hands(httpx.create_ssl_context(trust_env=False))
    chain.shake_hands(default_ssl_context.__wrapped__())


@pytest.mark.usefixtures("strict")
def test_names_dates_and_authorities_are_checked_as_ever(tmp_path: Path) -> None:
    chain = OldChain(tmp_path)
    with pytest.raises(ssl.SSLCertVerificationError, match="ostname"):
        chain.shake_hands(default_ssl_context.__wrapped__(), "other.example")
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        OldChain(tmp_path, expired=True).shake_hands(default_ssl_context.__wrapped__())
    context = default_ssl_context.__wrapped__()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def newest_python() -> str | None:
    if sys.version_info >= (3, 13):
        return sys.executable
    found = sorted(Path.home().glob(".pyenv/versions/3.13*/bin/python"))
    return str(found[-1]) if found else None


@pytest.mark.skipif(newest_python() is None, reason="no Python 3.13 here")
def test_python_3_13_is_strict_unless_the_flag_is_cleared(tmp_path: Path) -> None:
    """That what the tests above set by hand is what that version does by itself."""
    code = "import ssl; print(bool(ssl.create_default_context().verify_flags & ssl.VERIFY_X509_STRICT))"
    python = newest_python()
    assert python is not None
    assert subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"
