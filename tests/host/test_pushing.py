"""An approved push works: one question names where it goes, and exactly that is opened."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.operations.running.pushing import pins, remote_of
from steersman.records.message import ConfirmRequest, ConfirmResponse, TurnEnd
from steersman.records.settings import Settings
from tests.cli.kit import DONE
from tests.world import call

SETTING = """
git init -q --bare ../origin.git -b main && git remote add origin ../origin.git
git remote add hub git@hub.example:me/shop.git
git checkout -q -B main && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m Begin
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
        ("git push origin main && make", None),
        ("git push $(evil)", None),
        ("git -c core.sshCommand=evil push origin", None),
        ("git pushy", None),
    ],
)
def test_only_a_plain_push_is_one(command, remote):
    assert remote_of(command) == remote


def play(environ, workspace, model, decisions):
    """Play a turn and answer its questions in order; the questions."""

    async def whole():
        asked, left = [], list(decisions)
        async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            settings = Settings(model=model, approvals="review")
            thread = await host.start(str(workspace), "a task", settings, attended=True)
            await thread.send("go")
            async for message in thread.events(0):
                match message.body:
                    case ConfirmRequest() as request:
                        asked.append(request)
                        await thread.answer(message.corr, ConfirmResponse(left.pop(0)))
                    case TurnEnd():
                        break
        return asked

    return asyncio.run(asyncio.wait_for(whole(), 60))


def test_a_push_here_is_asked_about_once_and_one_elsewhere_leaves_the_sandbox(
    environ, workspace, script
):
    subprocess.run(SETTING, shell=True, cwd=workspace, check=True, env=environ)
    runs = ("git push origin main", "git push hub main")
    turns = [{"tool_calls": [call("workspace_run_command", command=one)]} for one in runs]

    asked = play(environ, workspace, script(*turns, DONE), ["allow", "deny"])

    origin = str(workspace.parent / "origin.git")
    (here,), (elsewhere,) = (request.actions for request in asked)
    assert (here.command, here.writes, here.outside) == (runs[0], (origin,), False)
    assert "pushes to origin" in asked[0].reason
    assert (elsewhere.command, elsewhere.outside) == (runs[1], True)
    assert "git@hub.example:me/shop.git needs your keys" in asked[1].reason
    branches = ["git", f"--git-dir={origin}", "branch", "--format=%(refname:short)"]
    done = subprocess.run(branches, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["main"]
    assert pins(origin)[:3] == ["--ro-bind", f"{origin}/hooks", f"{origin}/hooks"]
    assert pins(str(workspace)) == []
