"""What the tests share: a `steer` command in a world of its own, and scripts for the model."""

import gc
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.cli.kit import Gate
from tests.postgres import own_server as own_server
from tests.postgres import postgres as postgres
from tests.postgres import postgres_url as postgres_url
from tests.world import Steer

# Pictures are of a terminal that has all colours, whatever the one is that the tests are run in.
os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"

# Nothing is timed: on a busy machine there are no deadlines and no complaints about time.
settings.register_profile(
    "calm", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("calm")

# What is started here dies of signals as it would for a person, although whoever runs the tests in
# the background may have told them to ignore some.
for _signal in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(_signal, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What was read stays: to look through it for garbage again and again takes a third of a second
    each time, and some tests ask for that at their end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    """Where everything can be installed, a skipped test is a failed one; root cannot be."""
    outcome = yield
    report = outcome.get_result()
    strict = os.environ.get("STEERSMAN_NO_SKIPS") and "needs root" not in str(report.longrepr)
    if report.skipped and strict and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and nothing may be skipped here: {report.longrepr}"


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A command that waits until the test lets it go on."""
    gate = Gate()
    yield gate
    gate.release()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment that knows nothing of the person who runs the tests.

    Commands are waited for: on a busy machine the shortest takes longer than anyone has patience.
    """
    home = tmp_path / "home"
    home.mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "STEERSMAN_HOME": str(tmp_path / "data"),
        "STEERSMAN_COMMAND_WAIT": "600",
        "XDG_CONFIG_HOME": str(home / ".config"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small git repository with a bug in it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / "README.md").write_text("# Calc\n")
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    return folder


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Write a script of turns; the answer is the model's name."""

    def write(*turns: dict[str, Any], name: str = "script.json", aside: str = "") -> str:
        path = tmp_path / name
        path.write_text(json.dumps({"turns": turns, "aside": aside}))
        return f"scripted:{path}"

    return write


@pytest.fixture
def steer(environ: dict[str, str], workspace: Path) -> Steer:
    """The command line, in the workspace."""
    return Steer(environ, workspace)
