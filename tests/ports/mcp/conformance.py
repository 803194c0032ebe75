"""Runs the public conformance suite against something of ours and reads its results."""

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests import provision

ROOT = Path(__file__).resolve().parents[3]
FACTS = Path(__file__).with_name("conformance.toml")
REVISIONS = ("2025-11-25", "2026-07-28")
CALL = Path(__file__).with_name("conformance_call.py")
_DATED = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")


def facts(target: str) -> dict[str, Any]:
    """What is expected of a target."""
    found: dict[str, Any] = tomllib.loads(FACTS.read_text())["targets"][target]
    return found


def reason(target: str, scenario: str) -> str:
    """Why a scenario does not apply to a target; empty when it does."""
    excused: Mapping[str, str] = facts(target).get("not_applicable", {})
    return next((why for name, why in excused.items() if fnmatchcase(scenario, name)), "")


@contextmanager
def running(*argv: str, environ: Mapping[str, str] | None = None) -> Iterator[str]:
    """A server of the tests in its own process, by its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", *argv],
        cwd=ROOT,
        env={**os.environ, **(environ or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        url = process.stdout.readline().strip()
        assert url, process.stderr.read()
        yield url
    finally:
        process.terminate()
        process.communicate(timeout=60)


def against_server(url: str, revision: str, folder: Path) -> dict[str, list[str]]:
    """Every scenario of a revision against a server; by scenario, what failed."""
    _suite("server", "--url", url, "--requirements", revision, "-o", str(folder))
    return _results(folder, "server-")


def against_client(revision: str, folder: Path) -> dict[str, list[str]]:
    """Every scenario of a revision against our client; by scenario, what failed.

    The suite does them all at once, and some are about time: what fails is done once more, alone.
    """
    with tempfile.TemporaryDirectory() as near:  # the path of a socket has to be short
        path = os.path.join(near, "s")
        with running("tests.ports.mcp.conformance_client", path):
            command = f"{sys.executable} -I -S {CALL} {path}"
            how = ("client", "--command", command, "--timeout", "240000")
            _suite(*how, "--requirements", revision, "-o", str(folder / "all"))
            found = _results(folder / "all", "")
            for name in [one for one, failed in found.items() if failed]:
                if not reason("client", name):
                    alone = folder / "alone" / name.replace("/", "-")
                    which = ("--scenario", name, "--spec-version", revision)
                    _suite(*how, *which, "-o", str(alone))
                    (found[name],) = _results(alone, "").values()
    return found


@functools.cache
def scenarios_of(side: str, revision: str) -> tuple[str, ...]:
    """The scenarios the suite has for a revision, scored or not."""
    shown = _suite("list", f"--{side}", "--requirements", revision)
    required, _, extra = shown.partition("Run and reported, but never scored:")
    part = required.partition(f"{side.capitalize()} scenarios")[2].split("\n\n")[0]
    scored = re.findall(r"^ +- (\S+)$", part, re.M)
    return (*scored, *re.findall(rf"^ +- (\S+) \[{side}\]$", extra, re.M))


def _suite(*arguments: str) -> str:
    done = subprocess.run(
        [*provision.conformance(), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout


def _results(folder: Path, prefix: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("checks.json")):
        place = path.parent.relative_to(folder).as_posix()
        name = _DATED.sub("", place).removeprefix(prefix)
        checks = json.loads(path.read_text())
        found[name] = [
            f"{check['id']}: {check.get('errorMessage', '')}"
            for check in checks
            if check["status"] == "FAILURE"
        ]
    return found


def tables() -> str:
    """What the documentation says of all this."""
    known = tomllib.loads(FACTS.read_text())
    lines = [
        f"| target | {' | '.join(REVISIONS)} |",
        "|---|" + "---|" * len(REVISIONS),
    ]
    for target in known["targets"].values():
        counts = " | ".join(f"{target['passes'][one]} pass" for one in REVISIONS)
        lines.append(f"| {target['about']} | {counts} |")
    lines += ["", "| does not apply to | scenarios | because |", "|---|---|---|"]
    for name, target in known["targets"].items():
        for pattern, why in target.get("not_applicable", {}).items():
            lines.append(f"| {name} | `{pattern}` | {why} |")
    return "\n".join(lines)
