"""Certificates for the embedded cloud's TLS mode.

MiniStack can make one itself, but keeps it in a shared temporary folder and needs the openssl
command. This one is signed by an authority that exists only while it signs: its key is never
written, so trusting it trusts these two certificates and nothing else.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from datetime import datetime

    from sourcebook.clock import Clock

_VALID_FOR = timedelta(days=90)
_RENEWED_BEFORE = timedelta(days=7)
_BUNDLE_VARIABLES = ("SSL_CERT_FILE", "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")


@dataclass(frozen=True)
class Certificates:
    """The files of the TLS mode.

    Attributes:
        certificate: the server's certificate, PEM.
        key: its private key, PEM.
        bundle: whom a client of the embedded cloud trusts: the authority, and all that this machine trusts.
    """

    certificate: Path
    key: Path
    bundle: Path


def ensure(folder: Path, clock: Clock) -> Certificates:
    """Return the certificates in `folder`, made anew when absent or near their end."""
    files = Certificates(folder / "server.pem", folder / "server.key", folder / "bundle.pem")
    present = all(path.exists() for path in (files.certificate, files.key, files.bundle))
    if not present or _end(files.certificate) - clock() < _RENEWED_BEFORE:
        folder.mkdir(parents=True, exist_ok=True)
        _make(files, clock())
    return files


def _end(certificate: Path) -> datetime:
    return x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc


def _make(files: Certificates, now: datetime) -> None:
    authority_key = ec.generate_private_key(ec.SECP256R1())
    key = ec.generate_private_key(ec.SECP256R1())
    authority_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Sourcebook local authority")])
    authority_id = x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key())
    begin, end = now - timedelta(hours=1), now + _VALID_FOR

    authority = (
        x509.CertificateBuilder(
            issuer_name=authority_name,
            subject_name=authority_name,
            public_key=authority_key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=begin,
            not_valid_after=end,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(authority_id, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    names: list[x509.GeneralName] = [x509.DNSName("localhost"), x509.DNSName("*.execute-api.localhost")]
    names += [x509.IPAddress(ipaddress.ip_address(address)) for address in ("127.0.0.1", "::1")]
    certificate = (
        x509.CertificateBuilder(
            issuer_name=authority_name,
            subject_name=x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")]),
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=begin,
            not_valid_after=end,
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        # Python 3.13 verifies strictly and refuses a certificate that does not name its authority's key.
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(authority_id), critical=False
        )
        .sign(authority_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    files.key.unlink(missing_ok=True)
    files.key.touch(mode=0o600)
    files.key.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    files.certificate.write_bytes(certificate.public_bytes(pem))
    # Variables that name a bundle replace what a program trusts, so the bundle holds the rest too.
    files.bundle.write_bytes(b"\n".join([authority.public_bytes(pem), *_trusted_here()]))


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _trusted_here() -> list[bytes]:
    named = [os.environ.get(name) for name in _BUNDLE_VARIABLES]
    paths = dict.fromkeys(path for path in [*named, ssl.get_default_verify_paths().cafile] if path)
    return [Path(path).read_bytes() for path in paths if Path(path).is_file()]
