"""Programs people use, through the door, as they are: no setting but the environment."""

import os
import shutil
import ssl
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.operations.network.kit import HELLO, HERE, World, inside, saying, server
from tests.operations.processes.kit import run

HOST = "files.ok.test"


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, and no outputs about it."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def files(folder: Path) -> Iterator[int]:
    """A folder served over HTTP on this machine; the answer is the port."""
    with ThreadingHTTPServer((HERE, 0), partial(Quiet, directory=str(folder))) as serving:
        thread = Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        try:
            yield serving.server_port
        finally:
            serving.shutdown()


def world_with(port: int) -> World:
    """A world in which only the tests' own host may be reached."""
    return World(f"{HOST}:{port}", names={HOST: HERE})


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    """A certificate for the host, made here, and who trusts it."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", folder / "key", "-out", folder / "cert", "-days", "2",
         "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert", folder / "key")
    return context, folder / "cert"


def needs(program: str) -> str:
    """A program of the machine."""
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"there is no {program}")
    return found


PYTHON_TLS = (
    "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode(), end='')"
)


@pytest.mark.parametrize("client", ["curl", "python"])
def test_tls_goes_through_a_tunnel_from_end_to_end(tmp_path, tls, client):
    context, certificate = tls
    command = {
        "curl": (needs("curl"), "-sS", "--cacert", str(certificate)),
        "python": ("env", f"SSL_CERT_FILE={certificate}", sys.executable, "-c", PYTHON_TLS),
    }[client]

    async def work():
        async with server(saying(HELLO), context) as port:
            world = world_with(port)
            return await inside(world, tmp_path, *command, f"https://{HOST}:{port}/"), world, port

    said, world, port = run(work())
    assert said == (0, "hello\n")
    assert world.asked == [(HOST, port)]


def wheel(folder: Path) -> None:
    """A tiny package index with one package in it."""
    name = "tiny_harbour-1.0-py3-none-any.whl"
    (folder / "simple" / "tiny-harbour").mkdir(parents=True)
    with zipfile.ZipFile(folder / name, "w") as made:
        info = "tiny_harbour-1.0.dist-info"
        made.writestr("tiny_harbour.py", "fee = 3\n")
        made.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-harbour\nVersion: 1.0\n"
        )
        made.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        made.writestr(f"{info}/RECORD", "")
    page = f'<a href="../../{name}">{name}</a>'
    (folder / "simple" / "tiny-harbour" / "index.html").write_text(page)


@pytest.mark.parametrize("allowed", [True, False])
def test_pip_installs_from_an_allowed_host_and_from_no_other(tmp_path, allowed):
    wheel(tmp_path / "index")
    target = tmp_path / "target"
    target.mkdir()
    with files(tmp_path / "index") as port:
        world = world_with(port) if allowed else World()
        command = (
            sys.executable, "-m", "pip", "--isolated", "--no-cache-dir", "install", "-q",
            "--disable-pip-version-check", "--retries", "0", "--no-deps", "--no-compile",
            "--target", str(target), "--trusted-host", HOST,
            "--index-url", f"http://{HOST}:{port}/simple/", "tiny-harbour",
        )  # fmt: skip
        environ = ("env", f"TMPDIR={target}")
        code, said = run(inside(world, tmp_path, *environ, *command, bind=str(target)))
    assert (code == 0) is allowed, said
    assert (target / "tiny_harbour.py").exists() is allowed
    assert bool(world.denied) is not allowed


def test_git_clones_and_nothing_was_refused(tmp_path):
    """Git says who it is only when the proxy asks: the first try is no refusal."""
    git = needs("git")
    origin, target = tmp_path / "origin", tmp_path / "target"
    target.mkdir()
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": "/dev/null",
                "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}  # fmt: skip
    for line in (
        ["init", "-q", "."],
        ["add", "."],
        ["commit", "-qm", "one"],
        ["update-server-info"],
    ):
        origin.mkdir(exist_ok=True)
        (origin / "file").write_text("content\n")
        subprocess.run([git, *line], cwd=origin, check=True, env={**os.environ, **identity})
    with files(origin) as port:
        url = f"http://{HOST}:{port}/.git"
        command = (git, "clone", "-q", url, str(target / "clone"))
        world = world_with(port)
        code, said = run(inside(world, tmp_path, *command, bind=str(target)))
    assert (code, said, world.denied) == (0, "", [])
    assert (target / "clone" / "file").read_text() == "content\n"


NODE_FETCH = "fetch(process.argv[1]).then(r => r.text()).then(t => process.stdout.write(t))"
NODE_AGENT = """
const http = require("http"), way = new URL(process.env.HTTP_PROXY), url = process.argv[1];
const token = Buffer.from(way.username + ":" + way.password).toString("base64");
http.get({host: way.hostname, port: way.port, path: url,
          headers: {"Proxy-Authorization": "Basic " + token}}, r => r.pipe(process.stdout));
"""


@pytest.mark.parametrize("way", ["fetch", "by hand"])
def test_node_fetches(tmp_path, way):
    node = needs("node")
    version = subprocess.run([node, "-v"], capture_output=True, text=True, check=True).stdout
    program = NODE_FETCH if way == "fetch" else NODE_AGENT

    async def work():
        async with server(saying(HELLO)) as port:
            world = world_with(port)
            return await inside(
                world, tmp_path, node, "-e", program, f"http://{HOST}:{port}/"
            ), world

    (code, said), world = run(work())
    knows_the_environment = int(version.removeprefix("v").split(".")[0]) >= 24
    if way == "by hand" or knows_the_environment:
        assert (code, said) == (0, "hello\n")
    else:  # an older node looks for the host itself, and there is nothing to find
        assert code != 0
        assert world.asked == []
