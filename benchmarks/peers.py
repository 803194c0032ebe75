"""One script of 20 shell calls, played to `steer run` and to other agent programs, in one run.

Everyone gets the same answers from the same model server over HTTP and works in a folder of the
same shape. The other programs come from npm, into a folder of the user's cache; they are told to
talk to nobody else and to ask no questions. One that cannot be installed or started is left out,
with a sentence that says so. Not among the default subjects: `python -m benchmarks peers`.
"""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.measure import STEER, Figure
from benchmarks.programs import (
    CACHE,
    CLAUDE,
    CODEX,
    MACHINE,
    Setting,
    Start,
    claude,
    codex,
    install,
    model_server,
    steer_environ,
)
from benchmarks.tree import Spent, spent

NODE = f"node-linux-{MACHINE}@22"
CALLS = 20
RUNS = 3
TURNS = [{"do": "shell", "command": f"echo call {n} >> calls.txt"} for n in range(CALLS)]


class Peer(NamedTuple):
    """A program: its name, its npm packages, and how it is started in a setting."""

    name: str
    packages: tuple[str, ...]
    start: Callable[[Setting], Start]


class Result(NamedTuple):
    """What a participant took, the best of its runs; or why there is nothing to tell."""

    name: str
    wall: float = 0.0
    cpu: float = 0.0
    memory: float = 0.0
    problem: str = ""


def figures() -> list[Figure]:
    """Our wall time against each peer's, and our memory."""
    with (
        TemporaryDirectory(prefix="steersman-bench-") as name,
        model_server(Path(name), TURNS) as url,
    ):
        results = _compete(Path(name), url)
    print(_table(results), flush=True)
    ours, *theirs = results
    if ours.problem:
        raise SystemExit(f"steer {ours.problem}")
    made = [
        Figure(f"{CALLS} shell calls, wall, against {peer.name}", ours.wall / peer.wall, 1, "×",
               f"{ours.wall:.2f} s against {peer.wall:.2f} s")
        for peer in theirs if not peer.problem
    ]  # fmt: skip
    return [*made, Figure(f"{CALLS} shell calls, peak memory", ours.memory, 100, "MB")]


def _compete(folder: Path, url: str) -> list[Result]:
    """Everyone in turn, round after round, so that a busy moment hits all of them."""
    starts, problems, runs = {}, {}, {}
    for peer in PEERS:
        setting = Setting(CACHE / peer.name, folder / peer.name, url)
        (setting.home / "tmp").mkdir(parents=True)
        try:
            install(peer.packages, setting.installed)
            starts[peer.name] = peer.start(setting)
            runs[peer.name] = list[Spent]()
        except (OSError, subprocess.SubprocessError) as error:
            problems[peer.name] = f"is left out: {error}"
    for number in range(RUNS + 1):
        for name, start in starts.items():
            if name in problems:
                continue
            try:
                run, calls = _play(folder / name, start, watch=number == RUNS)
            except OSError as error:
                problems[name] = f"could not be started: {error}"
                continue
            runs[name].append(run)
            if calls != CALLS:
                problems[name] = f"failed: {calls} of {CALLS} calls, exit {run.code}: {run.said}"
    return [
        Result(peer.name, problem=problems[peer.name])
        if peer.name in problems
        else _best(peer.name, runs[peer.name])
        for peer in PEERS
    ]


def _best(name: str, runs: Sequence[Spent]) -> Result:
    *timed, watched = runs
    wall, cpu = min(run.wall for run in timed), min(run.cpu for run in timed)
    return Result(name, wall, cpu, watched.memory / 1e6)


def _play(home: Path, start: Start, *, watch: bool) -> tuple[Spent, int]:
    """One run in a fresh workspace, and how many calls left their line in it."""
    command, settings = start
    with TemporaryDirectory(prefix="work-", dir=home) as name:
        work = Path(name) / "work"
        work.mkdir()
        for module in ("calc.py", "test_calc.py", "src/shop.py", "docs/notes.md"):
            (work / module).parent.mkdir(exist_ok=True)
            (work / module).write_text("def add(a, b):\n    return a - b\n" * 20)
        subprocess.run(["git", "init", "--quiet"], cwd=work, check=True)
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home / "tmp")}
        run = spent(command, environ | settings, work, watch=watch)
        lines = work / "calls.txt"
        return run, len(lines.read_text().splitlines()) if lines.exists() else 0


def _table(results: Sequence[Result]) -> str:
    lines = [f"| {CALLS} shell calls | wall | CPU | peak memory |", "|---|---|---|---|"]
    for one in results:
        if one.problem:
            lines.append(f"| {one.name} | {' '.join(one.problem.split())} | | |")
        else:
            row = f"| {one.name} | {one.wall:.2f} s | {one.cpu:.2f} s | {one.memory:.0f} MB |"
            lines.append(row)
    return "\n".join(lines) + "\n"


# --- how each is started ----------------------------------------------------------------------


def _steer(setting: Setting) -> Start:
    line = [STEER, "run", "--json", "--model", "openai:scripted", "--approvals", "never", "go"]
    return line, steer_environ(setting)


def _codex(setting: Setting) -> Start:
    line, environ = codex(setting, "never")
    return [*line, "exec", "--json", "go"], environ


def _claude(setting: Setting) -> Start:
    line, environ = claude(setting)
    line = [*line, "-p", "go", "--output-format", "stream-json", "--verbose"]
    return [*line, "--dangerously-skip-permissions"], environ


def _pi(setting: Setting) -> Start:
    model = {"id": "scripted", "contextWindow": 100_000, "maxTokens": 8000}
    local = {
        "baseUrl": f"{setting.url}/v1",
        "api": "openai-completions",
        "apiKey": "LOCAL_KEY",
        "models": [model],
    }
    setting.write("pi/models.json", {"providers": {"local": local}})
    environ = {
        "PI_CODING_AGENT_DIR": str(setting.home / "pi"),
        "LOCAL_KEY": "x",
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
        "PI_SKIP_VERSION_CHECK": "1",
    }
    line = [setting.program(f"node-linux-{MACHINE}/bin/node"), setting.program(".bin/pi")]
    return [*line, "--mode", "json", "-p", "--model", "local/scripted", "go"], environ


def _gemini(setting: Setting) -> Start:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    }
    setting.write(".gemini/settings.json", settings)
    environ = {
        "GEMINI_API_KEY": "x",
        "GOOGLE_GEMINI_BASE_URL": setting.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }
    line = [setting.program(".bin/gemini"), "-p", "go", "-m", "gemini-2.5-flash"]
    return [*line, "--output-format", "stream-json", "--yolo"], environ


def _opencode(setting: Setting) -> Start:
    model = {"tool_call": True, "limit": {"context": 100_000, "output": 8000}}
    local = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{setting.url}/v1", "apiKey": "{env:LOCAL_KEY}"},
        "models": {"scripted": model},
    }
    names = {"model": "local/scripted", "small_model": "local/scripted"}
    settings = {"autoupdate": False, "share": "disabled", "enabled_providers": ["local"], **names}
    setting.write("config/opencode/opencode.json", settings | {"provider": {"local": local}})
    kinds = ("CONFIG", "DATA", "STATE", "CACHE")
    environ = {f"XDG_{kind}_HOME": str(setting.home / kind.lower()) for kind in kinds} | {
        "LOCAL_KEY": "x",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    }
    return [setting.program(".bin/opencode"), "run", "--format", "json", "go"], environ


PEERS = (
    Peer("steer", (), _steer),
    Peer("codex", CODEX, _codex),
    Peer("claude", CLAUDE, _claude),
    Peer("pi", ("@earendil-works/pi-coding-agent@0.87.1", NODE), _pi),
    Peer("gemini", ("@google/gemini-cli@0.61.0",), _gemini),
    # The newest whose program is there for both kinds of machine.
    Peer("opencode", ("opencode-ai@1.18.18",), _opencode),
)
