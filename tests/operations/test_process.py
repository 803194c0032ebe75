"""A command leaves nothing behind: whatever it started ends when it does, or when it is cancelled.

All of it through the tool, so that it holds however commands are started.
"""

import asyncio
import os
import random
import time
from pathlib import Path

import pytest

from steersman.records.errors import UsageProblem
from steersman.threads.handle import ThreadHandle
from tests.operations.workshop import PATIENCE, Workshop


def alive(token: str) -> list[str]:
    """The command lines of living processes with a token in their arguments."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = Path(entry.path, "cmdline").read_bytes()
                state = Path(entry.path, "stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if token.encode() in line and state not in "ZX":
                found.append(line.replace(b"\0", b" ").decode(errors="replace"))
    return found


def gone(token: str) -> bool:
    """Whether every process with a token ends, given time to be buried."""
    until = time.monotonic() + PATIENCE
    while alive(token):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def token() -> str:
    """Something no other process has in its arguments; a `sleep` takes it as a time."""
    return f"9{random.Random().randrange(10**8, 10**9)}"


async def started(token: str, count: int) -> None:
    """Wait until that many sleeping processes with a token are there."""
    async with asyncio.timeout(PATIENCE):
        while len(alive(f"sleep\0{token}")) < count:
            await asyncio.sleep(0.02)


FAMILIES = {
    "child": ("sleep {0}", 1),
    "children": ("sleep {0} & sleep {0} & wait", 2),
    "grandchild": ("bash -c 'bash -c \"sleep {0}; true\"; true'; true", 1),
    "background": ("(sleep {0} &) ; sleep {0}", 2),
    "setsid": ("setsid sleep {0} & sleep {0}", 2),
    "setsid-orphan": ("(setsid sleep {0} &) ; sleep {0}", 2),
    "nohup": ("nohup sleep {0} >/dev/null 2>&1 & sleep {0}", 2),
    "deaf": ("bash -c 'trap \"\" TERM INT HUP; sleep {0}; sleep {0}' ; true", 1),
    "holds-the-pipe": ("sleep {0} & exec 1>&- ; sleep {0}", 2),
    "no-environment": ("env -i setsid sleep {0}; true", 1),
    "no-trace": ("(env -i setsid sleep {0} &) ; sleep {0}", 2),
}


class Impatient(Workshop):
    """A person who cancels when the processes are there, or after a while."""

    token, count, patience = "", 0, 0.0

    async def during(self, thread: ThreadHandle) -> None:
        """Wait, then cancel."""
        if self.count:
            await started(self.token, self.count)
        await asyncio.sleep(self.patience)
        try:
            await thread.cancel()
        except UsageProblem:
            return  # it had ended


@pytest.mark.parametrize(("command", "count"), FAMILIES.values(), ids=FAMILIES)
def test_cancelling_a_call_ends_all_it_started_and_says_so(tmp_path, token, command, count):
    person = Impatient(tmp_path)
    person.token, person.count = token, count
    result = person.one("workspace_run_command", command=command.format(token))
    assert result.status == "cancelled"
    assert gone(token)


LEFT_BEHIND = {
    "silent": "echo said; sleep {0} & exit 3",
    "silent-elsewhere": "echo said; setsid sleep {0} & exit 3",
    "chatting": "echo said; (while true; do sleep 0.05; echo .; : {0}; done) & exit 3",
    "shouting": "echo said; yes {0} & exit 3",
}


@pytest.mark.parametrize("command", LEFT_BEHIND.values(), ids=LEFT_BEHIND)
def test_a_command_that_ended_is_over_whatever_still_holds_its_output(tmp_path, token, command):
    started_at = time.monotonic()
    result = Workshop(tmp_path).one("workspace_run_command", command=command.format(token))
    assert time.monotonic() - started_at < 25, "it waited for what was left behind"
    assert result.output["exit_code"] == 3
    assert result.output["output"].startswith("said\n")
    assert gone(token)


@pytest.mark.parametrize("patience", [0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05])
def test_a_command_cancelled_at_any_moment_leaves_nothing(tmp_path, token, patience):
    person = Impatient(tmp_path)
    person.patience = patience
    person.do(("workspace_run_command", {"command": f"sleep {token} & sleep {token}"}))
    assert gone(token)
    assert person.kinds().count("tool_call") == person.kinds().count("tool_result")


def test_a_command_cannot_wait_for_anybody(tmp_path):
    result = Workshop(tmp_path).one(
        "workspace_run_command", command="cat; read line; echo $?; echo $PAGER $GIT_EDITOR"
    )
    assert result.output["output"] == "1\ncat true\n"


def test_output_is_the_head_and_the_tail_when_there_is_too_much(tmp_path):
    result = Workshop(tmp_path).one(
        "workspace_run_command", command="echo first; seq 1 200000; echo last >&2"
    )
    text = result.output["output"]
    assert text.startswith("first\n1\n")
    assert text.endswith("200000\nlast\n")
    assert len(text) < 100_000
    assert result.output["truncated"]


def test_output_that_is_no_text_is_shown_as_far_as_it_can_be(tmp_path):
    result = Workshop(tmp_path).one("workspace_run_command", command=r"printf 'caf\xe9 \xc3\xa9\n'")
    assert result.output["output"] == "caf\N{REPLACEMENT CHARACTER} é\n"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ({"command": "true", "cwd": "nowhere"}, "error"),
        ({"command": "true", "cwd": "file.txt"}, "error"),
        ({"command": "tr\0ue"}, "error"),
        ({"command": "true", "cwd": ".."}, "denied"),
        ({"command": "true", "cwd": "/"}, "denied"),
    ],
)
def test_a_command_that_cannot_be_started_is_told_in_a_sentence(tmp_path, arguments, status):
    (tmp_path / "file.txt").write_text("x")
    result = Workshop(tmp_path).one("workspace_run_command", **arguments)
    assert result.status == status
    assert result.message
    assert "Traceback" not in result.message


def test_commands_inherit_what_is_usual_or_named_and_never_a_secret(tmp_path):
    environ = {
        "MY_API_KEY": "sk-0123456789",
        "PYTHONPATH": "src",
        "NAMED": "yes",
        "NAMED_TOKEN": "0123456789",
        "SOMETHING_ELSE": "yes",
    }
    shop = Workshop(tmp_path, environ=environ, environment=("NAMED*",))
    result = shop.one("workspace_run_command", command="env | cut -d= -f1")
    names = set(result.output["output"].split())
    assert names & environ.keys() == {"PYTHONPATH", "NAMED"}
