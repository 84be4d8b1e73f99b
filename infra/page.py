"""The web page: bundled at synth from web/, served by a function of its own."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.api import Api
from infra.data_stack import DataStack
from infra.deployment import ROOT
from infra.functions import PythonFunction
from infra.layer_builds import built_aside
from infra.layers import ARCHITECTURE, RUNTIME, Layers
from infra.nag import accept

PACKAGE: Final = "sourcebook_page"
ROUTES: Final = ("/", "/assets/{name}")

_WEB = ROOT / "web"
_CACHE = ROOT / ".sourcebook" / "build" / "page"
_BUNDLER = ROOT / "node_modules" / ".bin" / "esbuild"


class Page(Construct):
    """The page at ``/``, open to everybody. It has no data of its own and asks the API as its visitor.

    Attributes:
        function: answers with the page's files.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, api: Api, data: DataStack, layers: Layers
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = PythonFunction(
            self,
            "Serve",
            name="page",
            description="Serves the web page",
            layers=[layers.core, self._files()],
            # Signed links name the bucket by either of its addresses.
            environment={
                "UPLOAD_ADDRESSES": f"https://{data.bucket.bucket_domain_name} "
                f"https://{data.bucket.bucket_regional_domain_name}"
            },
            timeout=cdk.Duration.seconds(10),
            memory_size=256,
        )
        integration = integrations.HttpLambdaIntegration(
            "Page", self.function.function, scope_permission_to_route=False
        )
        for path in ROUTES:
            for route in api.api.add_routes(
                path=path, methods=[apigateway.HttpMethod.ANY], integration=integration
            ):
                accept(
                    route,
                    "AwsSolutions-APIG4",
                    "The page itself holds no data; what it shows it asks the API for.",
                )

    def _files(self) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            "Files",
            code=lambda_.Code.from_asset(str(build())),
            description="The files of the web page",
            compatible_runtimes=[RUNTIME],
            compatible_architectures=[ARCHITECTURE],
        )


def build(cache: Path = _CACHE) -> Path:
    """Return a layer's folder with the page's files in the package `PACKAGE`, made if the cache has none.

    Raises:
        ValueError: if the bundler fails, in its own words.
    """
    place = cache / _key()
    if place.is_dir():
        return place
    with built_aside(place) as unfinished:
        package = unfinished / "python" / PACKAGE
        package.mkdir(parents=True)
        (package / "__init__.py").write_text('"""The files of the web page."""\n')
        _bundle(package)
    for outdated in cache.iterdir():
        if outdated != place and not outdated.name.startswith("."):
            shutil.rmtree(outdated, ignore_errors=True)
    return place


def _bundle(package: Path) -> None:
    record = package / "bundle.json"
    finished = subprocess.run(
        [
            *(str(_BUNDLER), str(_WEB / "src" / "main.tsx"), "--bundle", "--minify", "--format=esm"),
            *("--target=es2022", "--jsx=automatic", "--jsx-import-source=preact", "--legal-comments=eof"),
            *(
                "--entry-names=app-[hash]",
                f"--outdir={package}",
                f"--metafile={record}",
                "--log-level=warning",
            ),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if finished.returncode:
        raise ValueError(
            f"the web page could not be bundled:\n{finished.stderr}\nRun `make install`, then try again."
        )
    made = [Path(name).name for name in json.loads(record.read_text("utf-8"))["outputs"]]
    record.unlink()
    index = (_WEB / "index.html").read_text("utf-8")
    for kind in ("js", "css"):
        (name,) = (name for name in made if name.endswith(f".{kind}"))
        index = index.replace(f"{{{{app.{kind}}}}}", name)
    (package / "index.html").write_text(index, "utf-8")
    shutil.copy(_WEB / "icon.svg", package)
    for file in sorted(package.iterdir()):
        if file.suffix != ".py":
            packed = gzip.compress(file.read_bytes(), compresslevel=9, mtime=0)
            file.with_name(f"{file.name}.gz").write_bytes(packed)


def _key() -> str:
    digest = hashlib.sha256()
    for file in (*sorted(_WEB.rglob("*")), ROOT / "package-lock.json", Path(__file__)):
        if file.is_file():
            digest.update(f"{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]
