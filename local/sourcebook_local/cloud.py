"""The embedded cloud: MiniStack as a detached process, found again by its home folder.

It runs in a virtual environment of its own and listens on 127.0.0.1 only. Its environment is made for it,
for every function inherits it.

Its state is written every minute and when it is stopped (SIGTERM). A kill, or a power cut, loses what came
since the last of these.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3.session
import botocore.config
import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from sourcebook.clock import Clock, utc_now
from sourcebook.http.policy import LOOPBACK_PORTS_VARIABLE

from . import process, tls
from .launcher import LAYERS_FOLDER, RECORDED_CALLS, SAVE_EVERY
from .project import HOME, ROOT, LocalCloudError, Say, quiet, tail
from .saved_objects import DESCRIPTION, Saved, damages, set_aside
from .snapshots import CONTENT, DamagedError, Snapshots

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFERRED_PORT = 4610
REGION = "us-east-1"
ACCOUNT = "000000000000"
ADDRESS = "127.0.0.1"

# Longer than the launcher waits for a process that saves and is stuck, before it forks another one.
_STOP_SECONDS = 60.0
_NO_PROGRESS_SECONDS = 60.0
_WORKERS_GRACE_SECONDS = 1.5
_START_SECONDS = 40.0
_NAMED = 10
_REQUIREMENTS = ROOT / "requirements" / "cloud.txt"
_LAUNCHED = (
    "launcher",
    "recorded_calls",
    "request_guard",
    "saved_objects",
    "saving",
    "snapshots",
    "sorted_indexes",
)
"""Modules that run in MiniStack's process."""
_LOG_KEPT_BYTES = 20 * 1024 * 1024
# The account's number as an access key is its root to MiniStack, which checks signatures of users and
# sessions only. `request_guard` checks this one too, against the secret of the home. The functions have the
# same key where IAM is not enforced.
_ROOT_KEY = ACCOUNT
_PASSED_ON = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"),
)


class LocalCloud:
    """One embedded cloud, identified by its home folder.

    Objects hold no state of their own: any process can make one for the same home, and start, use or
    stop the same cloud.

    Attributes:
        home: the folder with the cloud's state, log, certificates and environment.
        auth: whether IAM is enforced, for users and for the Lambdas' execution roles. The role of a
            state machine is not, nor is that of a rule or a schedule.
        tls: whether it speaks HTTPS, with a certificate in `ca_bundle`.
        log_file: what MiniStack writes, the Lambdas' errors included.
        region: the one region.
    """

    region = REGION

    def __init__(
        self,
        home: Path = HOME,
        *,
        venv: Path | None = None,
        port: int = PREFERRED_PORT,
        auth: bool = False,
        tls: bool = False,
        say: Say = quiet,
        clock: Clock = utc_now,
        save_every: float = 60.0,
        loopback_ports: Path | None = None,
        recorded: Path | None = None,
    ) -> None:
        """Describe a cloud; nothing is started.

        Args:
            home: its folder, made on start.
            venv: MiniStack's own virtual environment, by default inside `home`; homes may share one.
            port: what to listen on when the home has not had a port before and it is free; 0 takes
                any that is free.
            auth: enforce IAM.
            tls: speak HTTPS.
            say: called with lines on what takes time or needs attention.
            clock: the present time, for the certificates.
            save_every: seconds between two saves of its state.
            loopback_ports: a file with the only ports of this machine that functions may fetch from, one a
                line; None for any but the cloud's own.
            recorded: a file that gets each kind of call of functions (`recorded_calls`); None for none.
        """
        self.home = home.resolve()
        self.auth = auth
        self.tls = tls
        self.log_file = self.home / "log" / "cloud.log"
        self._venv = (venv or self.home / "cloud-venv").resolve()
        self._preferred_port = port
        self._say = say
        self._clock = clock
        self._save_every = save_every
        self._loopback_ports = loopback_ports
        self._recorded = recorded
        self._temporary = self.home / "tmp"
        self._state = self.home / "state"
        self._snapshots = Snapshots(self._state)
        self._settings_file = self.home / "cloud.json"
        self._pid_file = self.home / "cloud.pid"
        self._secret_file = self.home / "credentials.json"
        self._killed_file = self.home / "killed"

    # What clients need to know

    @property
    def port(self) -> int:
        """The port that it listens on, or listened on last.

        Raises:
            LocalCloudError: if this home never had a cloud.
        """
        port = self._read(self._settings_file).get("port")
        if not isinstance(port, int):
            raise LocalCloudError(f"there is no cloud in {self.home} yet: start it with `make up`")
        return port

    @property
    def endpoint_url(self) -> str:
        """The address of all AWS services."""
        return f"{'https' if self.tls else 'http'}://{ADDRESS}:{self.port}"

    def api_url(self, api_id: str) -> str:
        """Return the address of an HTTP API, without a slash at its end.

        Not ``http://<id>.execute-api.localhost``: names under localhost resolve in browsers and curl
        but not in every resolver, httpx's among them, and MiniStack answers ``/health`` there itself.
        """
        return f"{self.endpoint_url}/_aws/execute-api/{api_id}"

    @property
    def ca_bundle(self) -> Path | None:
        """The file of certificates to trust in TLS mode, None without TLS."""
        return tls.ensure(self.home / "tls", self._clock).bundle if self.tls else None

    @property
    def verify(self) -> ssl.SSLContext | bool:
        """Return the value of httpx's `verify`."""
        bundle = self.ca_bundle
        return ssl.create_default_context(cafile=str(bundle)) if bundle else True

    def variables(self) -> dict[str, str]:
        """Return the variables that point an AWS client at this cloud."""
        variables = {
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": _ROOT_KEY,
            "AWS_SECRET_ACCESS_KEY": self._secret(),
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            # Some operations put a prefix before the host name, which an address cannot have.
            "AWS_DISABLE_HOST_PREFIX_INJECTION": "true",
            "NO_PROXY": f"{ADDRESS},localhost",
            "no_proxy": f"{ADDRESS},localhost",
        }
        if bundle := self.ca_bundle:
            trusted = ("AWS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
            variables |= dict.fromkeys(trusted, str(bundle))
        return variables

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return a whole environment for a program that uses this cloud, such as the CDK.

        Args:
            base: what to start from, by default this process's. Its AWS settings do not pass: a
                profile, a session token or the endpoint of one service would win over ours.
        """
        kept = {k: v for k, v in (os.environ if base is None else base).items() if not k.startswith("AWS_")}
        return kept | self.variables()

    def session(self) -> boto3.session.Session:
        """Return a boto3 session whose clients and resources use this cloud.

        The user's AWS settings, files and variables alike, have no part in it.
        """
        isolated: dict[str, Any] = {
            "profile": (None, None, None, None),
            "config_file": (None, None, os.devnull, None),
            "credentials_file": (None, None, os.devnull, None),
        }
        return _Session(self.endpoint_url, self._secret(), self.ca_bundle, isolated)

    def configure(self, name: str, value: float) -> None:
        """Change one of MiniStack's own settings, such as how long its state machines wait.

        Raises:
            LocalCloudError: if it does not know the setting.
        """
        answer = json.loads(self._ask("/_ministack/config", json.dumps({name: value}).encode()))
        if not answer.get("applied"):
            raise LocalCloudError(f"MiniStack has not taken {name}: {answer}")

    # Life

    def running(self) -> bool:
        """Return whether this home's cloud runs, started by whichever process."""
        return self._running_pid() is not None

    def start(self) -> None:
        """Start the cloud, with the state it had when it was last stopped; no-op if it runs.

        Raises:
            LocalCloudError: if it runs with other options, cannot be installed, or does not answer.
        """
        with self._locked():
            if self.running():
                self._check_options()
                self._check_saved()
                if self._read(self._pid_file).get("code") == self._code():
                    return
                self._say(
                    "The embedded cloud was started by another version of this project: it is stopped, its "
                    "data saved, and started again."
                )
                self._stop()
            if self._pid_file.exists():
                self._note_kill()
            stopped = not self._killed_file.exists()
            if not stopped:
                self._say(
                    "The embedded cloud was not stopped by `make down` last time: what came after its last "
                    "save, which is made every minute, is lost."
                )
                self._drop_half_saved_buckets()
            self._end_workers(signal.SIGKILL)
            self._check_objects(stopped=stopped)
            self._ensure_venv()
            port = self._choose_port()
            self._move_queues(port)
            self._write(self._settings_file, {"port": port, "tls": self.tls})
            self._launch(port)
            self._killed_file.unlink(missing_ok=True)

    def stop(self) -> bool:
        """Stop the cloud, its state written; waits as long as writing makes progress.

        Returns:
            True if it stopped by itself, or did not run; False if it had to be killed and what came
            since its start is lost.
        """
        with self._locked():
            return self._stop()

    def reset(self) -> None:
        """Stop the cloud and forget its state. What was built (environment, assembly, layers) stays."""
        with self._locked():
            self._stop(discard=True)
            for folder in (self._state, self._temporary, self.home / "tls"):
                shutil.rmtree(folder, ignore_errors=True)
            own = (self._pid_file, self._killed_file, self._settings_file, self._secret_file)
            for file in (*own, self.home / "local.json"):
                file.unlink(missing_ok=True)

    def worker_pids(self, function_name: str) -> list[int]:
        """Return the processes that run, or wait to run, a function."""
        prefix = f"{self._temporary}/ministack-lambda-{function_name}-"
        # A random part without a hyphen follows: "api-" must not find the workers of "api-export".
        return [
            pid
            for pid, line in process.command_lines().items()
            if prefix in line and "-" not in line.split(prefix, 1)[1].split("/", 1)[0]
        ]

    # Inside

    def _running_pid(self) -> int | None:
        record = self._read(self._pid_file)
        pid, identity = record.get("pid"), record.get("identity")
        if isinstance(pid, int) and isinstance(identity, str) and process.is_running(pid, identity):
            return pid
        return None

    def _check_options(self) -> None:
        record = self._read(self._pid_file)
        if (record.get("auth"), record.get("tls")) != (self.auth, self.tls):
            raise LocalCloudError(
                f"the cloud in {self.home} runs with auth={record.get('auth')}, tls={record.get('tls')}, "
                f"not auth={self.auth}, tls={self.tls}: stop it first with `make down`"
            )

    def _code(self) -> str:
        """Return a digest of the modules and requirements that run the cloud."""
        digest = hashlib.sha256(str(self._loopback_ports).encode())
        for path in (*(Path(__file__).with_name(f"{name}.py") for name in _LAUNCHED), _REQUIREMENTS):
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def _launch(self, port: int) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)
        for folder in (self._temporary, self._state, self.log_file.parent):
            folder.mkdir(parents=True, exist_ok=True)
        if self.log_file.exists() and self.log_file.stat().st_size > _LOG_KEPT_BYTES:
            self.log_file.replace(self.log_file.with_suffix(".old.log"))
        # Isolated mode: no PYTHON* variable, and this folder's modules are not importable there.
        command = [str(self._venv / "bin" / "python"), "-I", str(Path(__file__).with_name("launcher.py"))]
        begun, written = time.monotonic(), self._log_size()
        pid = process.spawn(
            command, environment=self._own_environment(port), folder=self._temporary, log=self.log_file
        )
        identity = process.start_identity(pid)
        if identity is None:
            raise self._start_error("ended at once")
        record = {"pid": pid, "identity": identity, "auth": self.auth, "tls": self.tls, "code": self._code()}
        self._write(self._pid_file, record)
        while (trouble := self._trouble()) is not None:
            if not process.is_running(pid, identity):
                self._pid_file.unlink(missing_ok=True)
                raise self._start_error("ended while starting")
            if time.monotonic() - begun > _START_SECONDS:
                process.send(pid, signal.SIGKILL)
                process.wait_until_gone(pid, identity, 5)
                self._pid_file.unlink(missing_ok=True)
                raise self._start_error(f"at {self.endpoint_url} gave no answer ({trouble})")
            time.sleep(0.05)
        self._report("Failed to restore persisted state", written)
        self._say(f"The embedded cloud runs at {self.endpoint_url} ({time.monotonic() - begun:.1f} s)")

    def _start_error(self, what: str) -> LocalCloudError:
        return LocalCloudError(
            f"the embedded cloud {what}; the end of {self.log_file}:\n{tail(self.log_file)}\n"
            "If its state is the cause, `make reset` forgets it."
        )

    def _trouble(self) -> str | None:
        """Return why the cloud does not answer, or None if it does."""
        try:
            self._ask("/_ministack/ready")
        except OSError as error:
            return str(error)
        return None

    def _ask(self, path: str, content: bytes | None = None) -> bytes:
        """Send a signed request for one of MiniStack's own paths; return the answer.

        Args:
            path: of the request.
            content: a body in JSON, for a POST; a GET without it.

        Raises:
            OSError: if there is no answer, or it is an error.
        """
        url = f"{self.endpoint_url}{path}"
        request = AWSRequest("GET" if content is None else "POST", url, data=content)
        if content is not None:
            request.headers["Content-Type"] = "application/json"
        SigV4Auth(Credentials(_ROOT_KEY, self._secret()), "sts", REGION).add_auth(request)
        signed = urllib.request.Request(  # noqa: S310 - the address is our own
            url, content, dict(request.headers.items()), method=request.method
        )
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
        if isinstance(self.verify, ssl.SSLContext):
            handlers.append(urllib.request.HTTPSHandler(context=self.verify))
        with urllib.request.build_opener(*handlers).open(signed, timeout=5) as answer:
            return bytes(answer.read())

    def _secret(self) -> str:
        """Return the secret of this home's credentials, made at its first use; only this user can read it."""
        self.home.mkdir(parents=True, exist_ok=True)
        fresh = self.home / f"{self._secret_file.name}.{os.getpid()}"
        if not self._secret_file.exists():
            fresh.unlink(missing_ok=True)
            fresh.touch(mode=0o600)
            fresh.write_text(json.dumps({"secret_access_key": secrets.token_urlsafe(30)}) + "\n")
            with contextlib.suppress(FileExistsError):
                # Unlike a rename, this leaves the one of another process that was quicker.
                self._secret_file.hardlink_to(fresh)
            fresh.unlink()
        secret = self._read(self._secret_file).get("secret_access_key")
        if not isinstance(secret, str) or not secret:
            raise LocalCloudError(
                f"{self._secret_file} holds no credentials: run `make down`, then remove the file"
            )
        return secret

    def _log_size(self) -> int:
        return self.log_file.stat().st_size if self.log_file.exists() else 0

    def _report(self, complaint: str, begin: int) -> None:
        """Report what MiniStack only logs: that it goes on without a part of the state."""
        with self.log_file.open("rb") as log:
            log.seek(begin)
            for line in log.read().decode(errors="replace").splitlines():
                if complaint in line:
                    self._say(f"Some state of the embedded cloud is lost: {line.strip()}")

    def _stop(self, *, discard: bool = False) -> bool:
        pid = self._running_pid()
        if pid is None:
            self._end_workers(signal.SIGKILL)
            if self._pid_file.exists():
                self._note_kill()
            return True
        identity = str(self._read(self._pid_file)["identity"])
        written, seen, asked_at = self._log_size(), (0, 0), time.time()
        deadline = time.monotonic() + _STOP_SECONDS
        process.send(pid, signal.SIGKILL if discard else signal.SIGTERM)
        graceful = process.wait_until_gone(pid, identity, _WORKERS_GRACE_SECONDS)
        while not graceful and time.monotonic() < deadline:
            # It waits for the calls in progress, which for a Lambda may be minutes. They cannot reach
            # it any more; to those who called them this is a crash, and a queue delivers again.
            self._end_workers(signal.SIGKILL)
            graceful = process.wait_until_gone(pid, identity, 0.5)
            if not graceful:
                self._check_saved(since=asked_at)
            if (now := self._snapshots.progress()) != seen:
                seen, deadline = now, max(deadline, time.monotonic() + _NO_PROGRESS_SECONDS)
        if not graceful:
            process.send(pid, signal.SIGKILL)
            process.wait_until_gone(pid, identity, 1)
            self._say(
                "The embedded cloud did not stop by itself and was killed: what came since its last save is "
                f"lost. See {self.log_file}."
            )
        self._end_workers(signal.SIGKILL)
        if graceful:
            self._pid_file.unlink(missing_ok=True)
        else:
            self._note_kill()
        self._report("Persistence: failed to save", written)
        return graceful

    def _note_kill(self) -> None:
        """Note for the next start that the cloud may have written after its last save."""
        self._killed_file.touch()
        self._pid_file.unlink(missing_ok=True)

    def saved(self) -> str:
        """Return a description of the last save; "nothing" without a complete one."""
        try:
            newest, _ = self._snapshots.newest()
        except DamagedError:
            newest = None
        if newest is None:
            return "nothing"
        size = sum(path.stat().st_size for path in newest.iterdir()) / 1e6
        items, objects = self._content(newest)
        kept = [name for name in objects if not name.endswith(DESCRIPTION)]
        return f"{items:,} items of the tables and {len(kept):,} objects ({size:.1f} MB besides the objects)"

    @staticmethod
    def _content(snapshot: Path) -> tuple[int, dict[str, Saved]]:
        """Return how many items a snapshot holds, and the files of S3 that it lists."""
        try:
            content = json.loads((snapshot / CONTENT).read_text())
        except FileNotFoundError:  # of a version that did not list them
            return 0, {}
        return content["items"], {path: Saved(*values) for path, values in content["objects"].items()}

    def _check_objects(self, *, stopped: bool) -> None:
        """Move damaged files of S3 aside, and report them."""
        try:
            newest, damaged = self._snapshots.newest()
        except DamagedError:
            return  # which the cloud says itself when it starts
        if newest is None:
            return
        folder, aside = self._state / "s3", self.home / "set-aside" / f"objects-{time.time_ns()}"
        _, saved = self._content(newest)
        found = damages(folder, saved, stopped=stopped and not damaged)
        set_aside(folder, found, aside)
        for damage in found[:_NAMED]:
            self._say(f"An object of S3 is lost: {damage.path} {damage.reason}.")
        if len(found) > _NAMED:
            self._say(f"So are {len(found) - _NAMED} more.")
        if found:
            self._say(f"What is left of them is in {aside}.")

    def _check_saved(self, since: float = 0.0) -> None:
        """Raise LocalCloudError if the running cloud could not save its state when it last tried."""
        trouble = self._state / "trouble"
        if not trouble.exists() or trouble.stat().st_mtime < since:
            return
        if text := trouble.read_text(errors="replace").strip():
            raise LocalCloudError(
                f"the state of the embedded cloud cannot be saved in {self._state} ({text}). Nothing is lost "
                "yet: the cloud goes on and tries again. Free some space, then run `make down` again"
            )

    def _end_workers(self, number: signal.Signals) -> None:
        """Send a signal to the processes of functions, which may outlive MiniStack."""
        for pid in process.pids_running(f"{self._temporary}/ministack-lambda-"):
            process.send(pid, number)

    def _own_environment(self, port: int) -> dict[str, str]:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        environment |= {
            "GATEWAY_PORT": str(port),
            "MINISTACK_REGION": REGION,
            "MINISTACK_ACCOUNT_ID": ACCOUNT,
            "AWS_ACCESS_KEY_ID": _ROOT_KEY,
            "AWS_SECRET_ACCESS_KEY": self._secret(),
            "LOG_LEVEL": "INFO",
            "TMPDIR": str(self._temporary),
            # A Lambda must not come upon the user's ~/.aws or ~/.netrc.
            "HOME": str(self._temporary),
            "NO_PROXY": f"{ADDRESS},localhost",
            "no_proxy": f"{ADDRESS},localhost",
            "PERSIST_STATE": "1",
            "STATE_DIR": str(self._state),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(self._state / "s3"),
            "LAMBDA_EXECUTOR": "local",
            LAYERS_FOLDER: str(self.home / "layers"),
            SAVE_EVERY: str(self._save_every),
            # It would remove containers it takes for its own, and listen on further ports.
            "DOCKER_HOST": f"unix://{self._temporary}/no-docker.sock",
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
        }
        if self._recorded:
            environment[RECORDED_CALLS] = str(self._recorded.resolve())
        if self._loopback_ports:
            environment[LOOPBACK_PORTS_VARIABLE] = str(self._loopback_ports)
        if self.auth:
            environment["AUTH"] = "true"
        if self.tls:
            files = tls.ensure(self.home / "tls", self._clock)
            environment |= {
                "USE_SSL": "1",
                "MINISTACK_SSL_CERT": str(files.certificate),
                "MINISTACK_SSL_KEY": str(files.key),
                # For the Lambdas, which inherit this.
                **dict.fromkeys(("AWS_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"), str(files.bundle)),
            }
        return environment

    def _move_queues(self, port: int) -> None:
        """Replace the port in the addresses of the saved queues.

        MiniStack finds a queue by its address, and makes up that of a mapping's queue with its present
        port: after a change of port no function would get a message, without an error.
        """
        settings, queues = self._read(self._settings_file), self._state / "sqs.json"
        former, present = (
            f"{'https' if tls else 'http'}://localhost:{number}/"
            for tls, number in ((settings.get("tls"), settings.get("port")), (self.tls, port))
        )
        if former != present:
            if queues.exists():
                queues.write_text(queues.read_text().replace(former, present))
            with contextlib.suppress(DamagedError):  # which the cloud says itself when it starts
                self._snapshots.replace_text(queues.name, former, present)

    def _drop_half_saved_buckets(self) -> None:
        """Move buckets aside that the saved state does not list.

        S3 alone writes as it goes. After a kill it would bring back the buckets of stacks that are
        lost, and the next deployment fail on names that exist.
        """
        try:
            newest, _ = self._snapshots.newest()
        except DamagedError:
            return
        known = (newest or self._state) / "s3.json"
        if not known.exists():
            return
        names = known.read_text()
        for bucket in (self._state / "s3").glob(f"{ACCOUNT}/*"):
            if f"'{bucket.name}'" not in names:
                aside = self.home / "set-aside"
                aside.mkdir(exist_ok=True)
                bucket.rename(aside / f"{bucket.name}-{time.time_ns()}")
                self._say(
                    f"The last save does not know the bucket {bucket.name}: it is set aside in {aside}."
                )

    def _choose_port(self) -> int:
        former = self._read(self._settings_file).get("port")
        wanted = former if isinstance(former, int) else self._preferred_port
        for port in (wanted, self._preferred_port, 0):
            with contextlib.suppress(OSError), socket.socket() as probe:
                # As the server does: a connection that was closed a moment ago does not hold the port.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((ADDRESS, port))
                chosen = int(probe.getsockname()[1])
                if wanted not in (0, chosen):
                    self._say(f"Port {wanted} is taken: the embedded cloud uses {chosen}.")
                return chosen
        raise LocalCloudError(f"no free port on {ADDRESS}")

    def _ensure_venv(self) -> None:
        wanted = hashlib.sha256(_REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
        stamp = self._venv / "complete"
        self._venv.parent.mkdir(parents=True, exist_ok=True)
        with process.lock(self._venv.with_name(f"{self._venv.name}.lock")):
            if stamp.exists() and stamp.read_text() == wanted:
                return
            self._say("Installing the embedded cloud (MiniStack) …")
            log = self.home / "log" / "install.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            python = str(self._venv / "bin" / "python")
            install = "-m pip install --disable-pip-version-check --no-input --require-hashes -r"
            with log.open("wb") as output:
                for command in (
                    [sys.executable, "-m", "venv", "--clear", str(self._venv)],
                    [python, *install.split(), str(_REQUIREMENTS)],
                ):
                    done = subprocess.run(
                        command,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        check=False,
                    )
                    if done.returncode:
                        raise LocalCloudError(
                            f"MiniStack could not be installed; the end of {log}:\n{tail(log)}\n"
                            "Check the way to the package index, then try again."
                        )
            stamp.write_text(wanted)

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        self.home.mkdir(parents=True, exist_ok=True)
        return process.lock(self.home / "lock")

    @staticmethod
    def _read(path: Path) -> dict[str, object]:
        try:
            content = json.loads(path.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return {}
        return content if isinstance(content, dict) else {}

    @staticmethod
    def _write(path: Path, content: dict[str, object]) -> None:
        fresh = path.with_name(f"{path.name}.new")
        fresh.write_text(json.dumps(content, indent=2) + "\n")
        fresh.replace(path)


class _Session(boto3.session.Session):
    """A session whose clients have the endpoint of the cloud."""

    def __init__(
        self, endpoint_url: str, secret: str, ca_bundle: Path | None, variables: dict[str, Any]
    ) -> None:
        own = botocore.session.Session(session_vars=variables)
        own.set_default_client_config(
            botocore.config.Config(inject_host_prefix=False, proxies={}, retries={"mode": "standard"})
        )
        self._defaults: dict[str, Any] = {"endpoint_url": endpoint_url}
        if ca_bundle:
            self._defaults["verify"] = str(ca_bundle)
        super().__init__(
            aws_access_key_id=_ROOT_KEY,
            aws_secret_access_key=secret,
            region_name=REGION,
            botocore_session=own,
        )

    if not TYPE_CHECKING:

        def client(self, *args, **options):  # noqa: ANN002, ANN003, ANN202
            if "s3" in (options.get("service_name"), *args[:1]):
                # Presigned addresses of this region are of version 2 by default, which the guard refuses.
                asked = options.get("config") or botocore.config.Config()
                options["config"] = botocore.config.Config(signature_version="s3v4").merge(asked)
            return super().client(*args, **(self._defaults | options))

        def resource(self, *args, **options):  # noqa: ANN002, ANN003, ANN202
            return super().resource(*args, **(self._defaults | options))
