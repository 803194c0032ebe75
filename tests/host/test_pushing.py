"""An approved push works: one question names where it goes, and exactly that is opened."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.operations.running.pushing import (
    aim,
    deleted_by,
    pins,
    remote_of,
    written_parts,
)
from steersman.records.message import ConfirmRequest, ConfirmResponse, TurnEnd
from steersman.records.settings import Settings
from tests.cli.kit import DONE
from tests.world import call

SETTING = """
git init -q --bare ../origin.git -b main && git remote add origin ../origin.git
git remote add hub git@hub.example:me/shop.git
git checkout -q -B main && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m Begin
"""
HOOKED = """
git config branch.main.pushRemote origin
mkdir h && touch h/pre-push && git config core.hooksPath h
"""


@pytest.mark.parametrize(
    ("command", "remote"),
    [
        ("git push", ""),
        ("git push -u origin fix/x", "origin"),
        ("git push --force-with-lease=main origin main", "origin"),
        ("git push ../origin.git HEAD:refs/heads/a", "../origin.git"),
        ("git push --receive-pack=evil origin", None),
        ("git push -o x origin", None),
        ("git push --rece=evil origin", None),
        ("git push -uo x origin", None),
        ("git push -uf origin", "origin"),
        ("git push origin main && make", None),
        ("make test && git push origin main", None),
        ("git checkout evil && git push origin evil", None),
        ("git push origin main\nfind ../origin.git -delete", None),
        ("git() { ./tool; }\ngit push origin main", None),
        ("git log --output=../origin.git/HEAD; git push", None),
        ('git commit -m "$(./tool)" && git push', None),
        ("git add -A && git commit -qm 'Fix' && git push", None),
        ("git status; git push", None),
        ("git push origin main; ", None),
        ("git push ~/origin.git main", "~/origin.git"),
        ("git push ~other/origin.git main", None),
        ("cd sub && git push", None),
        ("git remote set-url origin x; git push", None),
        ("git push origin a && git push hub b", None),
        ("git push $(evil)", None),
        ("git -c core.sshCommand=evil push origin", None),
        ("git pushy", None),
    ],
)
def test_only_a_plain_push_is_one(command, remote):
    assert remote_of(command) == remote


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("git push origin -d a b/c", ["a", "b/c"]),
        ("git push --delete origin a", ["a"]),
        ("git push --del origin a", ["a"]),
        ("git push -qd origin a", ["a"]),
        ("git push -q origin :a +:refs/tags/t main", ["a", "refs/tags/t"]),
        ("git push origin main:a", []),
        ("git push origin :", []),
        ("git push", []),
        ("rm -r x", []),
    ],
)
def test_what_a_push_deletes(command, names):
    assert deleted_by(command) == names


def play(environ, workspace, model, decisions, seen=None):
    """Play a turn and answer its questions in order; the questions. What happened is `seen`."""

    async def whole():
        asked, left = [], list(decisions)
        async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            settings = Settings(model=model, approvals="review")
            thread = await host.start(str(workspace), "a task", settings, attended=True)
            await thread.send("go")
            async for message in thread.events(0):
                if seen is not None:
                    seen.append(message.body)
                match message.body:
                    case ConfirmRequest() as request:
                        asked.append(request)
                        await thread.answer(message.corr, ConfirmResponse(left.pop(0)))
                    case TurnEnd():
                        break
        return asked

    return asyncio.run(asyncio.wait_for(whole(), 60))


def test_a_push_here_is_asked_about_once_and_opens_nothing_that_git_obeys(
    environ, workspace, script
):
    subprocess.run(SETTING, shell=True, cwd=workspace, check=True, env=environ)
    packing = """
git -c user.name=x -c user.email=x@y tag -m t t && git push -q origin main:old main:kept t
git --git-dir=../origin.git pack-refs --all
"""
    subprocess.run(packing, shell=True, cwd=workspace, check=True, env=environ)
    runs = ("git push origin main", "git push hub main",
            "git push origin :old :refs/tags/t")  # fmt: skip
    turns = [{"tool_calls": [call("workspace_run_command", command=one)]} for one in runs]

    asked = play(environ, workspace, script(*turns, DONE), ["allow", "deny", "allow"])

    origin = workspace.parent / "origin.git"
    (here,), (elsewhere,), (deleting,) = (request.actions for request in asked)
    assert (here.command, here.writes, here.outside) == (runs[0], (str(origin),), False)
    assert "pushes to origin" in asked[0].reason
    assert (elsewhere.command, elsewhere.writes, elsewhere.outside) == (runs[1], (), False)
    assert (deleting.command, deleting.writes) == (runs[2], (str(origin),))
    branches = ["git", f"--git-dir={origin}", "for-each-ref", "--format=%(refname:short)"]
    done = subprocess.run(branches, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["kept", "main"]
    # Nothing that git follows is opened with it.
    opened = {os.path.basename(part) for part in written_parts(str(origin))}
    assert opened == {"objects", "refs", "logs"} & set(os.listdir(origin))
    obeyed = {"objects/info", "HEAD", "config", "hooks", "packed-refs"}
    assert {str(origin / name) for name in obeyed} <= set(pins(str(origin)))


def test_a_push_whose_hook_runs_code_of_the_workspace_opens_nothing(environ, workspace, script):
    destroys = (
        "import shutil; shutil.rmtree('../origin.git/refs'); shutil.rmtree('../origin.git/objects')"
    )
    (workspace / "check.py").write_text(destroys)
    hook = workspace / ".git/hooks/pre-push"
    lines = f"{SETTING}\ngit push -q origin main\ngit checkout -qb b"
    subprocess.run(lines, shell=True, cwd=workspace, check=True, env=environ)
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\npython3 check.py\n")
    hook.chmod(0o755)
    push = {"tool_calls": [call("workspace_run_command", command="git push origin b")]}

    (request, *_) = play(environ, workspace, script(push, DONE), ["allow", "deny", "deny"])

    assert request.actions[0].writes == ()
    origin = workspace.parent / "origin.git"
    assert list((origin / "objects").iterdir())
    assert (origin / "refs/heads/main").exists()


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ("", True),
        ("git config branch.main.remote ../other.git", False),
        ("git config remote.pushDefault ../other.git", False),
        ("git config branch.main.pushRemote hub", False),
        ("git config branch.main.pushRemote origin", True),
        (HOOKED, False),
    ],
)
def test_an_unnamed_destination_is_the_one_that_git_takes(environ, workspace, setting, found):
    lines = f"{SETTING}\ngit remote rename hub x; git remote remove x; git remote add hub h:x\n"
    subprocess.run(lines, shell=True, cwd=workspace, check=True, env=environ)
    if not setting:
        subprocess.run("git remote remove hub", shell=True, cwd=workspace, check=True, env=environ)
    subprocess.run(setting or "true", shell=True, cwd=workspace, check=True, env=environ)
    place = aim("git push", str(workspace), environ, str(workspace)).place
    assert place == (str(workspace.parent / "origin.git") if found else "")
