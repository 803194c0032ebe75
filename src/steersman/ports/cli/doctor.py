"""`steer doctor`: what was found, what is missing, and the command that mends it."""

import os
import platform
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import click
import msgspec
from msgspec import Struct

from steersman import __version__
from steersman.host import Host
from steersman.identity.settings import config_file, data_folder, load_settings
from steersman.intelligence.benching.results import results_file
from steersman.intelligence.configured import read_config
from steersman.intelligence.models import Models
from steersman.ports.cli.options import json_flag
from steersman.records.errors import Exit, SteersmanError

_MARKS = {"ok": ("✓", "green"), "note": ("·", "yellow"), "bad": ("✗", "red")}


class Finding(Struct, frozen=True, omit_defaults=True):
    """One thing that was looked at."""

    subject: str
    state: Literal["ok", "note", "bad"]
    found: str
    mend: str = ""


@click.command()
@json_flag
def command(as_json: bool) -> int:
    """Tell what was found, what is missing, and how to mend it."""
    findings = list(_findings())
    for finding in findings:
        if as_json:
            click.echo(msgspec.json.encode(finding).decode())
            continue
        mark, colour = _MARKS[finding.state]
        click.echo(f"{click.style(mark, fg=colour)} {finding.subject:<12} {finding.found}")
        if finding.mend:
            click.echo(f"  {'':<12} → {finding.mend}")
    return Exit.FAILED if any(finding.state == "bad" for finding in findings) else Exit.DONE


def _findings() -> Iterator[Finding]:
    python = platform.python_version()
    yield Finding("steersman", "ok", f"{__version__} on Python {python}, {platform.system()}")
    yield _data()
    yield _sqlite()
    yield _settings()
    yield _model()
    yield from _thinking()
    yield _program("bash", "commands need it: install bash")
    yield _program("git", "not needed, but most work is in repositories: install git")
    yield _ripgrep()
    yield _commands()
    yield from _servers()
    yield from _history()


def _data() -> Finding:
    folder = data_folder(os.environ)
    try:
        host = Host.at(folder, os.environ)
    except SteersmanError as problem:
        return Finding("data", "bad", f"{problem.what} {problem.why}", problem.try_this)
    count = len(host.threads())
    host.store.close()
    if getattr(host.store, "read_only", False):
        return Finding("data", "bad", f"{folder} is read-only", "make it writable")
    free = shutil.disk_usage(folder).free
    text = f"{folder}, {count} threads, {free / 1e9:.1f} GB free"
    if free < 200e6:
        return Finding("data", "bad", text, "free some disk space")
    return Finding("data", "ok", text)


def _sqlite() -> Finding:
    version = sqlite3.sqlite_version_info
    text = f"SQLite {sqlite3.sqlite_version}"
    if version < (3, 35, 0):
        return Finding("database", "bad", text, "use a Python with SQLite 3.35 or newer")
    if version < (3, 51, 3):
        return Finding(
            "database",
            "note",
            f"{text} has a very rare write-ahead-log bug (mended in 3.51.3)",
            "keep copies of threads you need: steer threads export ID -o FILE",
        )
    return Finding("database", "ok", text)


def _settings() -> Finding:
    path = config_file(os.environ)
    try:
        load_settings(os.environ, {})
    except SteersmanError as problem:
        return Finding("settings", "bad", f"{problem.what} {problem.why}", problem.try_this)
    return Finding("settings", "ok", f"{path}{'' if path.exists() else ' (none; defaults)'}")


def _model() -> Finding:
    """The model that is set, opened but not asked."""
    try:
        settings = load_settings(os.environ, {})
        config = read_config(settings.models, settings.providers, settings.roles, settings.fallback)
        models = Models(os.environ, config, results_file(data_folder(os.environ)))
        model = models.choose(settings.model)
        if not model:
            mend = "pass --model provider:name, or set `model` in config.toml"
            return Finding("model", "note", "none is set; `steer demo` needs none", mend)
        models.open(model)
    except SteersmanError as problem:
        return Finding("model", "bad", f"{problem.what} {problem.why}", problem.try_this)
    return Finding("model", "ok", model)


def _thinking() -> Iterator[Finding]:
    """What there is to think with: keys, model servers on this machine, agent programs."""
    from steersman.intelligence.discovery import look

    found = look(os.environ)
    for one in found:
        if one.kind == "program":
            yield Finding("agents", "ok", f"{one.name}, {one.detail}")
        else:
            state: Literal["ok", "note"] = "ok" if one.command else "note"
            yield Finding("models", state, f"{one.name}: {one.detail}", one.command)
    if all(one.kind == "program" for one in found):
        yield Finding(
            "models",
            "note",
            "no API key and no model server on this machine",
            "set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or start Ollama",
        )


def _ripgrep() -> Finding:
    from steersman.operations.finding.program import ripgrep

    found = ripgrep(os.environ, str(Path.cwd()))
    if found:
        return Finding("search", "ok", f"ripgrep, {found}")
    slow = "without ripgrep: the same results, more slowly"
    return Finding("search", "note", slow, "pip install 'steersman[tools]', or install ripgrep")


def _commands() -> Finding:
    from steersman.operations.running.containment import means

    try:
        found = means(str(Path.cwd()), str(data_folder(os.environ) / "scratch"))
    except OSError as error:
        return Finding("sandbox", "bad", f"commands cannot be confined: {error}")
    level, reason = found.containment.level, found.containment.reason
    mend = "pip install 'steersman[tools]', or install bubblewrap 0.11 or newer"
    if level == "none":
        refused = f"none works, so commands are refused unless you pass --sandbox none: {reason}"
        return Finding("sandbox", "bad", refused, mend)
    if level == "weaker":
        return Finding("sandbox", "note", f"weaker than it should be: {reason}", mend)
    program = found.bubblewrap.program if found.bubblewrap else ""
    view = reason or "over a view of the workspace, no network but what you allow"
    return Finding("sandbox", "note" if reason else "ok", f"{program}: {view}")


def _history() -> Iterator[Finding]:
    """Secrets that git has kept: whoever has the repository can read them, and so can commands."""
    from steersman.governance.secret_finder import Finder
    from steersman.operations.running.programs import found as found_program

    folder = str(Path.cwd())
    secret_files, _ = Finder(folder).find(deep=False)
    # Nothing that a repository configures is run: no hook, no fetch, no check of signatures.
    safe = ("-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "--no-pager")
    log = ("log", "--all", "--format=", "--name-only", "--diff-filter=A", "-z", "--relative",
           "--no-show-signature", "--no-ext-diff", "--no-textconv")  # fmt: skip
    environ = {**os.environ, "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
    git = found_program("git", os.environ, folder)
    if git is None:
        return
    try:
        ran = subprocess.run(
            [git, *safe, *log],
            cwd=folder, env=environ, capture_output=True, timeout=20, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return
    names = set(os.fsdecode(ran.stdout).split("\0")) - {""}
    found = sorted(name for name in names if secret_files.covers(os.path.join(folder, name)))
    if found:
        shown = ", ".join(found[:5]) + (" …" if len(found) > 5 else "")
        yield Finding(
            "secrets",
            "note",
            f"git's history holds {shown}: that cannot be hidden from commands",
            "change those secrets, and take them out of the history (git filter-repo)",
        )


def _program(name: str, mend: str) -> Finding:
    found = shutil.which(name)
    if found:
        return Finding(name, "ok", found)
    return Finding(name, "bad" if name == "bash" else "note", "not found", mend)


def _servers() -> Iterator[Finding]:
    """The MCP servers that are configured; none is started."""
    from steersman.ports.cli.mcp_trying import findings

    folder = os.path.realpath(Path.cwd())
    host = Host.at(data_folder(os.environ), os.environ)
    trusted = host.permissions.folder(folder).loads
    host.store.close()
    yield from findings(folder, os.environ, trusted=trusted)
