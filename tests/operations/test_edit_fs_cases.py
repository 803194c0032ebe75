"""Edits in a real folder: the cases of the exam that are about files, and some of our own."""

import asyncio
import json
import os
import stat
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.records.settings import Settings
from tests.cli.kit import StrictSteer, without_privilege

SHARED = Path(__file__).parents[3] / "shared" / "data" / "edit_cases.jsonl"
EXAM = (
    Path(os.environ["STEERSMAN_EXAM_DIR"]) / SHARED.name
    if "STEERSMAN_EXAM_DIR" in os.environ
    else SHARED
)
OWN = Path(__file__).with_name("fs_cases.jsonl")


def cases():
    files = [path for path in (OWN, EXAM) if path.exists()]
    rows = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    return [row for row in rows if row["level"] == "fs"]


def grow(folder, tree):
    """Make the files of a case; modes last, so that nothing stands in the way."""
    for name, what in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match what:
            case str(text) | {"text": str(text)}:
                path.write_bytes(text.encode())
            case {"symlink": target}:
                path.symlink_to(target)
            case {"dir": True}:
                path.mkdir(exist_ok=True)
            case {"fifo": True}:
                os.mkfifo(path)
    for name, what in tree.items():
        if isinstance(what, dict) and "hardlink" in what:
            (folder / name).hardlink_to(folder / what["hardlink"])
        if isinstance(what, dict) and "mode" in what:
            (folder / name).chmod(int(what["mode"], 8))


def check(folder, tree):
    """The files are as the case says."""
    for name, what in tree.items():
        path = folder / name
        match what:
            case {"symlink": target}:
                assert os.readlink(path) == target
            case {"fifo": True}:
                assert stat.S_ISFIFO(path.lstat().st_mode)
            case {"dir": True}:
                assert path.is_dir()
            case {"hardlink": other}:
                assert path.samefile(folder / other)
            case str(text) | {"text": str(text)}:
                assert path.read_bytes() == text.encode()
        if isinstance(what, dict) and "mode" in what:
            assert stat.S_IMODE(path.stat().st_mode) == int(what["mode"], 8)
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    named = {name for name, what in tree.items() if not (isinstance(what, dict) and "dir" in what)}
    assert there == {name for name in named if not (folder / name).is_dir()}


def pairs(edits):
    """Edits as the tool takes them."""
    return [e if isinstance(e, dict) else {"search": e[0], "replace": e[1]} for e in edits]


async def play(host, folder, steps):
    """The calls of a case in one session; the answers of its edits."""
    thread = await host.start(str(folder), "case", Settings(approvals="never"), origin="call")
    answers = []
    edits = []
    for step in steps:
        match step:
            case {"do": str(words)} if words.startswith("read "):
                await thread.call("workspace_read_file", {"path": words.split()[1]})
            case {"do": str(words), "text": str(text)}:
                (folder / words.split()[-1]).write_bytes(text.encode())
            case {"path": path, "edits": given}:
                edits.append({"path": path, "edits": pairs(given)})
    answers.append((await thread.call("workspace_edit_files", {"files": edits})).body)
    return answers


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_files_are_edited_as_the_case_says(case, environ, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    grow(folder, case["fs"])

    async def scenario():
        async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            return await play(host, folder, case["call"])

    if "skip as root" in case["why"]:
        # Root may write anywhere, so the call is made by a process without that power.
        files = [{"path": s["path"], "edits": pairs(s["edits"])} for s in case["call"]]
        steer = StrictSteer(environ, folder, before=without_privilege)
        done = steer("call", "--yes", "workspace_edit_files", json.dumps({"files": files}))
        assert (done.returncode == 0) == (case["expect"] == "applied"), done.stderr
        check(folder, case["after_fs"])
        return
    answers = asyncio.run(scenario())
    applied = all(answer.status == "ok" for answer in answers)
    assert applied == (case["expect"] == "applied"), answers
    check(folder, case["after_fs"])
    if case["family"] == "stale":
        assert "changed since it was read" in answers[-1].message
