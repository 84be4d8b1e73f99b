"""Which addresses are reached, by whatever name or spelling."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sourcebook.errors import InvalidInput, Retryable, Terminal
from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError
from sourcebook.http.guard import is_allowed, is_public
from sourcebook.http.policy import parse_networks
from tests.unit.http.servers import LOOPBACK, Exchange, ScriptedResolver, quick, serve

REFUSED = """
0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.8.9.10
168.63.129.16 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.9
192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
224.0.1.1 239.255.255.250 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1
::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:100.64.0.1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1
64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b::0.0.0.0 64:ff9b:1::8.8.8.8 100::1 2001::1
2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::
2002:a9fe:a9fe::1 2002:808:808::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%1
2606:4700::1%1 fec0::1 ff02::1 ff0e::1 4000::1
"""
PUBLIC = """
1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.1 172.32.0.1 192.167.255.255 223.255.255.254 ::ffff:8.8.8.8
64:ff9b::8.8.8.8 2001:200::1 2001:4860:4860::8888 2003::1 2606:4700:4700::1111 2a00:1450:4001::1
"""


class TestAddresses:
    @pytest.mark.parametrize("text", REFUSED.split())
    def test_refuses_all_that_is_not_the_public_internet(self, text: str) -> None:
        assert not is_public(ipaddress.ip_address(text))

    @pytest.mark.parametrize("text", PUBLIC.split())
    def test_lets_public_addresses_pass(self, text: str) -> None:
        assert is_public(ipaddress.ip_address(text))

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("127.0.0.1", True),
            ("::ffff:127.9.9.9", True),
            ("64:ff9b::127.0.0.1", True),
            ("::1", True),
            ("::2", False),
            ("10.0.0.1", False),
            ("8.8.8.8", False),
        ],
    )
    def test_allowed_networks_cover_the_address_inside(self, text: str, expected: bool) -> None:
        assert is_allowed(ipaddress.ip_address(text), LOOPBACK) is expected

    def test_reads_lists_of_networks(self) -> None:
        assert parse_networks(" 127.0.0.0/8, ::1/128 ,") == LOOPBACK
        assert parse_networks("") == ()
        with pytest.raises(InvalidInput, match=r"10\.0\.0\.1/8"):
            parse_networks("10.0.0.1/8")


class TestUrls:
    @pytest.mark.parametrize(
        "host",
        [
            "127.0.0.1",
            "127.0.0.1.",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "017700000001",
            "127.1",
            "127.0.0.0x1",
            "example.0x",
            "127。0。0。1",
            "0",
            "0.0.0.0",
            "169.254.169.254",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fd00:ec2::254]",
            "134744072",
        ],
    )
    async def test_blocked_in_every_spelling(self, host: str) -> None:
        async with HttpClient(quick(allowed_networks=())) as client:
            with pytest.raises(FetchError) as caught:
                await client.get(f"http://{host}/latest/meta-data")
        assert caught.value.cause is FetchCause.BLOCKED_ADDRESS
        assert isinstance(caught.value, Terminal)

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "feed",
            "/feed.xml",
            "//example.org/feed",
            "http://",
            "http:///feed",
            "http:feed",
            "ftp://example.org/",
            "file:///etc/passwd",
            "gopher://127.0.0.1:6379/_x",
            "javascript:alert(1)",
            "feed://example.org/feed",
            "http://user:hush@example.org/",
            "http://hush@example.org/",
            "http://example.org:0/",
            "http://example.org:hush/",
            "http://example.org:99999/",
            "http://exa mple.org/",
            "http://ex%61mple.org/",
            "http://example.org\r\nHost: x/",
            "http://a..example/",
            "http://-x\\@127.0.0.1/",
            "http://[fe80::1%25eth0]/",
            "http://[::1/",
            "http://①②⑦.0.0.1/",
            "http://0177.0.0.1/",
            "http://example.org/" + "x" * 9000,
        ],
    )
    async def test_refuses_what_is_no_web_url(self, url: str) -> None:
        async with HttpClient(quick()) as client:
            with pytest.raises(FetchError) as caught:
                await client.get(url)
        assert caught.value.cause is FetchCause.INVALID_URL
        assert "hush" not in str(caught.value).replace("example.org:hush", "")

    @pytest.mark.parametrize("port", [22, 25, 6379, 9200, 65535])
    async def test_odd_ports_of_public_hosts(self, port: int) -> None:
        resolver = ScriptedResolver(["8.8.8.8"])
        async with HttpClient(quick(), resolver=resolver) as client:
            with pytest.raises(FetchError) as caught:
                await client.get(f"http://example.org:{port}/")
        assert caught.value.cause is FetchCause.BLOCKED_PORT

    async def test_odd_ports_need_every_address_in_an_allowed_network(self) -> None:
        async with HttpClient(quick(), resolver=ScriptedResolver(["127.0.0.1", "8.8.8.8"])) as client:
            with pytest.raises(FetchError) as caught:
                await client.get("http://example.org:6379/")
        assert caught.value.cause is FetchCause.BLOCKED_PORT


class TestNames:
    @pytest.mark.parametrize(
        "addresses",
        [["10.0.0.1"], ["8.8.8.8", "169.254.169.254"], ["2001:4860:4860::8888", "fd00:ec2::254"]],
    )
    async def test_blocked_when_any_address_is_not_public(self, addresses: list[str]) -> None:
        async with HttpClient(quick(), resolver=ScriptedResolver(addresses)) as client:
            with pytest.raises(FetchError) as caught:
                await client.get("http://rebind.example/")
        assert caught.value.cause is FetchCause.BLOCKED_ADDRESS
        assert addresses[-1] in str(caught.value)

    async def test_connects_to_the_address_that_was_judged(self) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(b"judged", Connection="close")

        resolver = ScriptedResolver(["127.0.0.1"], ["10.0.0.1"])
        async with serve(respond) as server, HttpClient(quick(), resolver=resolver) as client:
            assert (await client.get(server.url("/", host="rebind.example"))).body == b"judged"
            assert resolver.asked == ["rebind.example"]
            with pytest.raises(FetchError) as caught:
                await client.get(server.url("/", host="rebind.example"))
        assert caught.value.cause is FetchCause.BLOCKED_ADDRESS
        assert resolver.asked == ["rebind.example"] * 2

    @pytest.mark.parametrize("failure", [socket.gaierror(-2, "Name or service not known"), UnicodeError("x")])
    async def test_names_that_do_not_resolve(self, failure: Exception) -> None:
        class Failing:
            async def resolve(self, host: str, port: int) -> Sequence[str]:
                raise failure

        async with HttpClient(quick(), resolver=Failing()) as client:
            with pytest.raises(FetchError) as caught:
                await client.get("http://gone.example/")
        assert caught.value.cause is FetchCause.DNS
        assert isinstance(caught.value, Retryable)

    @pytest.mark.parametrize("addresses", [[], ["not an address"]])
    async def test_answers_without_a_usable_address(self, addresses: list[str]) -> None:
        async with HttpClient(quick(), resolver=ScriptedResolver(addresses)) as client:
            with pytest.raises(FetchError) as caught:
                await client.get("http://empty.example/")
        assert caught.value.cause is FetchCause.DNS

    async def test_name_servers_that_never_answer(self) -> None:
        class Silent:
            async def resolve(self, host: str, port: int) -> Sequence[str]:
                await asyncio.sleep(60)
                return []

        async with HttpClient(quick(connect_timeout=0.05), resolver=Silent()) as client:
            with pytest.raises(FetchError) as caught:
                await client.get("http://silent.example/")
        assert caught.value.cause is FetchCause.DNS

    @pytest.mark.parametrize(
        "host", ["xn--a.example", "xn--.example", "under_score.example", "bücher.example"]
    )
    async def test_unusual_names_are_asked_for_as_they_are(self, host: str) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer()

        resolver = ScriptedResolver(["127.0.0.1"])
        async with serve(respond) as server, HttpClient(quick(), resolver=resolver) as client:
            assert (await client.get(server.url("/", host=host))).status == 200
        assert resolver.asked == [host.replace("bücher", "xn--bcher-kva")]

    async def test_a_label_that_is_too_long_for_the_system_resolver(self, client: HttpClient) -> None:
        with pytest.raises(FetchError) as caught:
            await client.get(f"http://{'a' * 70}.invalid/")
        assert caught.value.cause is FetchCause.DNS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for feeds.example, with its key, in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "feeds.example")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("feeds.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + built.public_bytes(serialization.Encoding.PEM)
    )
    return path


class TestTls:
    async def test_name_stays_in_host_and_sni_while_the_address_is_the_judged_one(
        self, certificate: Path
    ) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(b"secure")

        names: list[str | None] = []
        served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        served.load_cert_chain(certificate)
        served.sni_callback = lambda _socket, name, _context: names.append(name)
        trusting = ssl.create_default_context(cafile=certificate)
        resolver = ScriptedResolver(["127.0.0.1"])
        async with (
            serve(respond, context=served) as server,
            HttpClient(quick(), resolver=resolver, ssl_context=trusting) as client,
        ):
            for _ in range(2):
                assert (await client.get(server.url("/", host="feeds.example"))).body == b"secure"
        assert names == ["feeds.example"]
        assert server.exchanges[0].headers["host"] == f"feeds.example:{server.port}"
        assert server.connections == 1

    @pytest.mark.parametrize("trusts", [True, False])
    async def test_certificates_are_checked(self, certificate: Path, trusts: bool) -> None:
        async def respond(exchange: Exchange) -> None:
            await exchange.answer(b"secure")

        served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        served.load_cert_chain(certificate)
        context = ssl.create_default_context(cafile=certificate) if trusts else None
        host = "other.example" if trusts else "feeds.example"
        resolver = ScriptedResolver(["127.0.0.1"])
        async with (
            serve(respond, context=served) as server,
            HttpClient(quick(), resolver=resolver, ssl_context=context) as client,
        ):
            with pytest.raises(FetchError) as caught:
                await client.get(server.url("/", host=host))
        assert caught.value.cause is FetchCause.TLS
        assert ("Hostname mismatch" if trusts else "self-signed") in str(caught.value)
        assert server.exchanges == []
