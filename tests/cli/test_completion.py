"""`steer completion`: a shell completes commands, flags, and values that are known."""

import os
import pty
import select
import shutil
import subprocess
import sys

import pytest

from steersman.host.catalogue import remember
from tests.cli.kit import DONE, decoded
from tests.world import PATIENCE

INSTALLED = [shell for shell in ("bash", "zsh", "fish") if shutil.which(shell)]


@pytest.fixture
def completed(steer):
    """What `steer` answers a shell about a line whose last word is begun."""

    def ask(shell, line):
        words = line.split(" ")
        told = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        if shell == "fish":
            told["COMP_CWORD"] = words[-1]
        done = steer.having(_STEER_COMPLETE=f"{shell}_complete", **told)()
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return ask


@pytest.fixture
def typed(steer, tmp_path):
    """Type the beginning of a line and Tab into a real bash; the answer is the line then."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "steer"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m steersman "$@"\n')
    program.chmod(0o755)
    setup = tmp_path / "setup"
    setup.write_text(f'PATH="{folder}:$PATH"; PS1="> "; eval "$(steer completion bash)"\n')

    def type_(line):
        ours, theirs = pty.openpty()
        shell = subprocess.Popen(
            ["bash", "--noprofile", "--rcfile", setup, "-i"], cwd=steer.folder,
            env={**steer.environ, "TERM": "dumb"}, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        try:
            # Ctrl-A, so that the completed line is printed and not run.
            os.write(ours, f"{line}\t\x01echo made: \rexit\r".encode())
            return next(one for one in read(ours).splitlines() if one.startswith("made: "))[6:]
        finally:
            shell.kill()
            shell.wait()
            os.close(ours)

    return type_


def read(terminal):
    """All that is printed until the other side ends."""
    text = b""
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            text += os.read(terminal, 65_536)
        except OSError:
            break
    return text.decode(errors="replace").replace("\r", "")


def plain(answer):
    """The values of an answer to bash."""
    return [line.partition(",")[2] for line in answer.splitlines()]


def test_commands_flags_choices_threads_and_models_are_completed(steer, home, script, completed):
    steer("run", "--model", script(DONE), "a task")
    (record,) = decoded(steer("threads", "list", "--json").stdout)
    thread = record["id"]
    remember("acme", "https://models.example.org", ("large", "small", "odd $(x)"), home)

    for line, values in (
        ("steer thr", ["threads"]),
        ("steer threads sh", ["show"]),
        ("steer run --appr", ["--approvals"]),
        ("steer run --approvals on-", ["on-request", "on-failure"]),
        ("steer run --approvals=on-", ["on-request", "on-failure"]),
        (f"steer threads show {thread[:4]}", [thread]),
        ("steer resume ", [thread]),
        (f"steer -p --resume {thread[:2]}", [thread]),
        ("steer run --model acme:", ["large", "small"]),
        ("steer run -m acme : la", ["large"]),
        ("steer -p --output-format s", ["stream-json"]),
        ("steer --output-f", ["--output-format"]),
        ("steer --resume ", [thread]),
        ("steer completion ", ["bash", "zsh", "fish"]),
    ):
        assert plain(completed("bash", line)) == values, line


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_help_with_their_values(shell, steer, script, completed):
    steer("run", "--model", script(DONE), "a\ttask: with\nlines")
    (record,) = decoded(steer("threads", "list", "--json").stdout)
    answer = completed(shell, "steer threads show ")
    assert record["id"] in answer
    assert len(answer.splitlines()) == (3 if shell == "zsh" else 1)
    assert "plain" in completed(shell, "steer threa")


def test_threads_of_this_machine_are_not_offered_for_those_of_another(steer, script, completed):
    steer("run", "--model", script(DONE), "task")
    assert plain(completed("bash", "steer wait "))
    assert completed("bash", "steer wait --connect https://example.org ") == "\n"


def test_nothing_is_completed_and_nothing_said_where_nothing_can_be(completed, steer, home):
    home.mkdir()
    (home / "steersman.db").write_bytes(b"not a database")
    assert completed("bash", "steer threads show ") == "\n"
    assert completed("bash", "steer nothing --x") == "\n"
    assert steer.having(_STEER_COMPLETE="odd")().returncode == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_a_shell_evaluates_is_printed(steer, shell):
    done = steer("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_STEER_COMPLETE={shell}_complete" in done.stdout
    if shell in INSTALLED:
        checked = subprocess.run([shell, "-n"], input=done.stdout, text=True, capture_output=True)
        assert (checked.returncode, checked.stderr) == (0, "")


def test_a_real_bash_completes_commands_choices_threads_and_models(steer, home, script, typed):
    steer("run", "--model", script(DONE), "a task")
    (record,) = decoded(steer("threads", "list", "--json").stdout)
    remember("acme", "https://models.example.org", ("large", "small"), home)
    assert typed("steer thr").rstrip() == "steer threads"
    assert typed("steer run --mode pl").rstrip() == "steer run --mode plan"
    assert typed("steer run -m acme:la").rstrip() == "steer run -m acme:large"
    shown = f"steer threads show {record['id']}"
    assert typed(shown[:-5]).rstrip() == shown
