"""Git is ended where it would wait without end, and when it takes too long."""

import os
import subprocess

from steersman.operations.running.git_pipes import FIRST, looked_after, waits_at


def waiting() -> "subprocess.Popen[bytes]":
    """A program that waits, as git would."""
    return subprocess.Popen(["sleep", "600"])


def test_git_is_ended_where_a_pipe_is_and_the_pipe_is_remembered(tmp_path):
    pipe = tmp_path / "deep" / ".gitignore"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    with waiting() as child, looked_after(child, str(tmp_path), 600):
        assert child.wait(60) < 0
    assert waits_at(str(tmp_path)) == str(pipe)
    pipe.unlink()
    assert waits_at(str(tmp_path)) == ""


def test_git_is_ended_in_time_however_long_it_takes_to_look_for_pipes(tmp_path, monkeypatch):
    """A tree without end stands for a very large one: in each folder there is another."""
    (tmp_path / "deeper").mkdir()
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda _: scan(tmp_path))
    with waiting() as child, looked_after(child, str(tmp_path), FIRST * 1.1):
        assert child.wait(30) < 0
    assert waits_at(str(tmp_path)) == ""
