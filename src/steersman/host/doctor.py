"""What there is to work with on this machine, what is missing, and the command that fixes it."""

import os
import platform
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Literal

from steersman import __version__, children
from steersman.host import mcp
from steersman.host.doctor_models import found_models, model
from steersman.host.findings import Finding, brief, trouble
from steersman.host.settings import own_file, settings_for, state_folder
from steersman.host.storage import open_host
from steersman.records.counting import counted
from steersman.records.errors import SteersmanError
from steersman.records.mcp_server import Server

OLDEST_SQLITE = (3, 35, 0)
SAFE_SQLITE = (3, 51, 3)  # a checkpoint beside a write cannot corrupt the log any more
LEAST_FREE = 200e6


def findings(
    folder: str, environ: Mapping[str, str], *, offline: bool = False
) -> Iterator[Finding]:
    """Everything that matters for work in a folder, each tried. No MCP server is started.

    `offline`: nothing beyond this machine is asked, and no model.
    """
    system = f"{__version__} on Python {platform.python_version()}, {platform.system()}"
    yield Finding("steersman", "ok", system)
    yield from _data(environ)
    yield sqlite(sqlite3.sqlite_version)
    yield _settings(environ)
    yield model(environ, offline=offline)
    yield from found_models(environ, offline=offline)
    yield _program("bash", "-c", "echo works", fix="commands need it: install bash")
    yield _program(
        "git", "--version", fix="not needed, but most work is in repositories: install git"
    )
    yield _ripgrep(folder, environ)
    yield _sandbox(folder, environ)
    yield from _servers(folder, environ)
    yield from _history(folder, environ)


def _data(environ: Mapping[str, str]) -> Iterator[Finding]:
    """The state folder, and the store: which it is and whether it opens."""
    folder = state_folder(environ)
    try:
        host = open_host(environ)
        status = host.store.status()
        if host.store.unwritable is None:
            host.store.remember("doctor", "tried", "yes")  # writes, or raises
            host.store.remember("doctor", "tried", None)
    except SteersmanError as problem:
        yield trouble("data", problem)
        return
    host.store.close()
    if host.store.unwritable is not None:
        yield trouble("data", host.store.unwritable)
        return
    free = shutil.disk_usage(folder).free
    text = f"{folder}, {counted(status.threads, 'thread')}, {free / 1e9:.1f} GB free"
    if free < LEAST_FREE:
        yield Finding("data", "bad", text, "free some disk space")
    else:
        yield Finding("data", "ok", text)
    yield Finding(
        "store", "ok", f"{status.kind}, {status.engine}, at {status.where}; can be written"
    )


def sqlite(version: str) -> Finding:
    """What a version of SQLite means for threads that several processes write."""
    numbers = tuple(int(part) for part in version.split("."))
    if numbers < OLDEST_SQLITE:
        fix = "use a Python with SQLite 3.35 or newer"
        return Finding("database", "bad", f"SQLite {version}", fix)
    if numbers < SAFE_SQLITE:
        told = "without the fix of the write-ahead-log reset bug (3.51.3); a lock works around it"
        return Finding("database", "ok", f"SQLite {version}, {told}")
    return Finding(
        "database", "ok", f"SQLite {version}, with the fix of the write-ahead-log reset bug"
    )


def _settings(environ: Mapping[str, str]) -> Finding:
    path = own_file(environ, "config.toml")
    try:
        settings_for(environ, {})
    except SteersmanError as problem:
        return trouble("settings", problem)
    return Finding("settings", "ok", f"{path}{'' if path.exists() else ' (none; defaults)'}")


def _program(name: str, *arguments: str, fix: str) -> Finding:
    """A program, run once."""
    found = shutil.which(name)
    state: Literal["note", "bad"] = "bad" if name == "bash" else "note"
    if not found:
        return Finding(name, state, "not found", fix)
    said = _said([found, *arguments])
    if said is None:
        return Finding(name, state, f"{found} does not run", fix)
    return Finding(name, "ok", f"{found}, {said.removeprefix(f'{name} ')}")


def _said(command: list[str]) -> str | None:
    """The first line that a program prints; None when it fails."""
    try:
        ran = children.run(command, cwd="/", seconds=10)
    except (OSError, subprocess.SubprocessError):
        return None
    lines = ran.stdout.decode(errors="replace").splitlines()
    return brief(lines[0], 60) if ran.returncode == 0 and lines else None


def _ripgrep(folder: str, environ: Mapping[str, str]) -> Finding:
    from steersman.operations.finding.program import ripgrep

    found = ripgrep(environ, folder)
    version = _said([found, "--version"]) if found else None
    if version:
        told = f"ripgrep, {found}, {version.removeprefix('ripgrep ')}"
        return Finding("search", "ok", told)
    slow = "without ripgrep: the same results, more slowly"
    return Finding("search", "note", slow, "pip install 'steersman[tools]', or install ripgrep")


def _sandbox(folder: str, environ: Mapping[str, str]) -> Finding:
    from steersman.operations.running.containment import means

    try:
        found = means(folder, str(state_folder(environ) / "scratch"))
    except OSError as error:
        return Finding("sandbox", "bad", f"commands cannot be confined: {error}")
    level, reason = found.containment.level, found.containment.reason
    fix = "pip install 'steersman[tools]', or install bubblewrap 0.11 or newer"
    if level == "none":
        refused = f"none works, so commands are refused unless you pass --sandbox none: {reason}"
        return Finding("sandbox", "bad", refused, fix)
    if level == "weaker":
        return Finding("sandbox", "note", f"weaker than it should be: {reason}", fix)
    program = found.bubblewrap.program if found.bubblewrap else ""
    view = reason or "over a view of the workspace, no network but what you allow"
    return Finding("sandbox", "note" if reason else "ok", f"{program}: a command ran {view}")


def _servers(folder: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        host = open_host(environ)
    except SteersmanError:
        return  # shown with the data
    usable = mcp.usable(host, folder, environ)
    host.store.close()
    yield from servers(usable, folder, environ)


def servers(usable: mcp.Usable, folder: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    """A finding for each MCP server, and for each entry that is wrong."""
    if usable.servers and find_spec("mcp") is None:
        fix = "pip install 'steersman[mcp]'"
        yield Finding("mcp", "bad", "the library for MCP is missing", fix)
    for server in usable.servers:
        yield _server(server, folder, environ)
    for problem in usable.problems:
        yield Finding("mcp", "note", brief(problem, 300), "fix that file, or see docs/mcp.md")


def _server(server: Server, folder: str, environ: Mapping[str, str]) -> Finding:
    from steersman.host.mcp_trial import KnownServers, missing_program

    if not server.enabled:
        return Finding("mcp", "ok", f"{server.name} is disabled")
    if fix := missing_program(server, folder, environ):
        return Finding(
            "mcp", "bad", f"{server.name}: {brief(server.command, 60)} is not found", fix
        )
    facts = KnownServers(folder, environ).facts(server)
    trying = f"steer mcp test {server.name}"
    if facts.sign_in == "needs a sign-in":
        fix = f"steer mcp login {server.name}"
        return Finding("mcp", "bad", f"{server.name} {facts.sign_in}", fix)
    if facts.failure is not None:
        reason = brief(facts.failure, 200)
        return Finding("mcp", "bad", f"{server.name}: last failure: {reason}", trying)
    if facts.tools is None:
        return Finding("mcp", "note", f"{server.name} was never started", trying)
    tools = counted(facts.tools, "tool")
    told = filter(None, (server.name, tools, facts.sign_in or ""))
    return Finding("mcp", "ok", ", ".join(told))


def _history(folder: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Secrets that git has kept: whoever has the repository can read them, and so can commands."""
    from steersman.governance.secret_finder import Finder, exceptions
    from steersman.operations.running.programs import git as git_for

    secret_files, _ = Finder(folder, agreed=exceptions(folder)).find(deep=False)
    # Nothing that a repository configures is run: no hook, no fetch, no check of signatures.
    safe = ("-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "--no-pager")
    log = ("log", "--all", "--format=", "--name-only", "--diff-filter=A", "-z", "--relative",
           "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-mailmap")  # fmt: skip
    git = git_for(environ, folder)
    if git is None:
        return
    try:
        kept = {**environ, "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
        ran = children.run([git, *safe, *log], cwd=folder, environ=kept, seconds=20)
    except (OSError, subprocess.SubprocessError):
        return
    names = set(os.fsdecode(ran.stdout).split("\0")) - {""}
    found = sorted(name for name in names if secret_files.covers(os.path.join(folder, name)))
    if found:
        listed = ", ".join(found[:5]) + (" …" if len(found) > 5 else "")
        yield Finding(
            "secrets",
            "note",
            f"git's history contains {listed}: that cannot be hidden from commands",
            "change those secrets, and remove them from the history (git filter-repo)",
        )
