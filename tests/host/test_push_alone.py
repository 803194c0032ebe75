"""A repository that a push may write is open to git alone; nothing else runs with it."""

import encodings.idna  # noqa: F401  # an ordinary user may be unable to read it later
import os
import subprocess
from collections.abc import Sequence

import pytest

from steersman.records.message import ConfirmRequest, ConfirmResponse, Message, ToolResult
from tests.operations.sandbox.kit import EVERYBODY, World, as_somebody
from tests.operations.workshop import Workshop

ALLOW, DENY = ConfirmResponse("allow"), ConfirmResponse("deny")
RAN = "objects/ran"
SETTING = """set -e
git init -q --bare ../origin.git -b main
git init -q . -b main && git remote add origin ../origin.git
git config --global user.name x && git config --global user.email x@y
git commit -q --allow-empty -m Begin && git push -q origin main && git checkout -qb topic
git commit -q --allow-empty -m More
printf '#!/bin/sh\\ntouch %s/../origin.git/objects/ran 2>/dev/null || :\\n' "$PWD" > tool
chmod +x tool
printf 'test:\\n\\t./tool\\n' > Makefile
"""
IN_PATH = """mkdir -p .venv/bin
for name in git bash sh git-receive-pack git-remote-x; do cp tool .venv/bin/$name; done"""
EVIL = """git init -q --bare evil.git && cp tool evil.git/hooks/post-receive
git config url.$PWD/evil.git.insteadOf"""


class Pusher:
    """A workspace with a repository beside it, whose owner answers in turn."""

    def __init__(self, world: World, setting: str, answers: Sequence[ConfirmResponse]) -> None:
        self.origin = world.folder / "origin.git"
        self.asked: list[ConfirmRequest] = []
        left = list(answers)

        def answer(message: Message) -> ConfirmResponse:
            assert isinstance(message.body, ConfirmRequest)
            self.asked.append(message.body)
            return left.pop(0) if left else DENY

        plain = {"HOME": str(world.home), "PATH": os.environ["PATH"]}
        lines = f"{SETTING}\n{setting}"
        subprocess.run(lines, shell=True, cwd=world.root, env=plain, check=True)
        path = f"{world.root}/.venv/bin:{os.environ['PATH']}"
        environ = {"HOME": str(world.home), "PATH": path}
        self.workshop = Workshop(world.root, answer=answer, environ=environ, approvals="review")

    def run(self, *commands: str) -> list[ToolResult]:
        """Run commands, one call for each."""
        return self.workshop.do(*(("workspace_run_command", {"command": c}) for c in commands))

    def opened(self) -> list[tuple[str, ...]]:
        """What each question was ready to open."""
        return [one.writes for request in self.asked for one in request.actions]

    def has(self, branch: str) -> bool:
        """Whether a branch has arrived."""
        return (self.origin / "refs/heads" / branch).exists()

    def unharmed(self) -> bool:
        """Whether no code of the workspace could write there."""
        return not (self.origin / RAN).exists() and self.has("main")


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize("first", ["make test &&", "make test;", "git add tool &&", "cd . &&"])
def test_a_line_that_does_more_than_push_is_never_given_a_repository(who: str, first: str) -> None:
    """Neither before nor after it failed; the result says what to do, and one more call does it."""

    def attempt(world: World) -> None:
        pusher = Pusher(world, "", [ALLOW] * 4)
        line = f"{first} git push origin topic"
        refused, pushed = pusher.run(line, "git push origin topic")
        assert pusher.opened() == [(), (str(pusher.origin),)]
        assert "then the push alone, as in `git push origin main`" in refused.output["note"]
        assert "outside_sandbox" not in refused.output["note"]
        assert pushed.output["exit_code"] == 0, pushed
        assert pusher.has("topic")
        assert pusher.unharmed()

    as_somebody(who, attempt)


def test_whoever_wants_the_whole_line_outside_is_told_to_push_alone() -> None:
    def attempt(world: World) -> None:
        pusher = Pusher(world, "", [ALLOW])
        line = {"command": "make test; git push origin topic"}
        name = "workspace_run_command"
        pusher.workshop.do((name, line), (name, line | {"outside_sandbox": True}))
        assert "then the push alone" in pusher.asked[-1].reason
        assert not pusher.has("topic")

    as_somebody("me", attempt)


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize(
    "setting",
    [
        IN_PATH,
        "git config --global core.fsmonitor $PWD/tool",
        "git config --global push.gpgSign true && git config --global gpg.program $PWD/tool",
        "git config remote.origin.receivepack $PWD/tool",
        "git config push.negotiate true && git config remote.origin.uploadpack $PWD/tool",
        "git config --global alias.push '!./tool'",
        "git config --global core.sshCommand $PWD/tool",
        "git config --global credential.helper $PWD/tool",
        "git config --global filter.x.clean $PWD/tool && echo '* filter=x' > .gitattributes",
        "git config --global core.alternateRefsCommand $PWD/tool && git init -q ../other && "
        "echo $PWD/../other/.git/objects > ../origin.git/objects/info/alternates",
    ],
)  # fmt: skip
def test_what_settings_would_run_does_not_run(who: str, setting: str) -> None:
    def attempt(world: World) -> None:
        pusher = Pusher(world, setting, [ALLOW])
        (pushed,) = pusher.run("git push origin topic")
        assert pusher.opened() == [(str(pusher.origin),)]
        assert pushed.output["exit_code"] == 0, pushed
        assert "error" not in pushed.output["output"]
        assert pusher.has("topic")
        assert pusher.unharmed()

    as_somebody(who, attempt)


def test_a_remote_that_leads_into_the_workspace_opens_nothing() -> None:
    def attempt(world: World) -> None:
        pusher = Pusher(world, f"{EVIL} ../origin.git", [ALLOW])
        pusher.run("git push origin topic")
        assert set(pusher.opened()) == {()}
        assert pusher.unharmed()

    as_somebody("me", attempt)


@pytest.mark.parametrize("where", ["../origin.git", "~/../origin.git"])
def test_a_path_leads_where_it_says(where: str) -> None:
    def attempt(world: World) -> None:
        pusher = Pusher(world, f"{EVIL} {where.replace('~', '$HOME')}", [ALLOW])
        (pushed,) = pusher.run(f"git push {where} topic")
        assert pushed.output["exit_code"] == 0, pushed
        assert pusher.has("topic")
        assert pusher.unharmed()

    as_somebody("me", attempt)


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("cp tool .git/hooks/pre-push", "git would run the hook"),
        ("mkdir h && cp tool h/pre-push && git config core.hooksPath h", "git would run the hook"),
        ("cp tool ../origin.git/hooks/update", "git would run the hook"),
        ("mkdir h && cp tool h/post-receive && "
         "git --git-dir=../origin.git config core.hooksPath $PWD/h", "git would run the hook"),
        ("git config --global hook.x.command $PWD/tool", "the setting hook.x.command names"),
        ("git config remote.origin.promisor true && "
         "git config remote.origin.uploadpack $PWD/tool", "for the partial clone"),
    ],
)  # fmt: skip
def test_what_cannot_be_turned_off_is_refused(who: str, setting: str, why: str) -> None:
    def attempt(world: World) -> None:
        pusher = Pusher(world, setting, [ALLOW] * 3)
        (refused,) = pusher.run("git push origin topic")
        assert set(pusher.opened()) == {()}
        assert why in refused.output["note"]
        assert not pusher.has("topic")
        assert pusher.unharmed()

    as_somebody(who, attempt)


def test_the_host_takes_no_git_of_the_workspace_from_a_folder_below_it() -> None:
    def attempt(world: World) -> None:
        pusher = Pusher(world, IN_PATH, [ALLOW])
        below = {"command": "git push origin topic", "cwd": "sub"}
        (pushed,) = pusher.workshop.do(("workspace_run_command", below))
        assert pushed.output["exit_code"] == 0, pushed
        assert pusher.has("topic")
        assert pusher.unharmed()

    as_somebody("me", attempt)


def test_other_hooks_are_no_reason_to_refuse_a_push() -> None:
    def attempt(world: World) -> None:
        pusher = Pusher(world, "cp tool .git/hooks/pre-commit", [ALLOW])
        (pushed,) = pusher.run("git push origin topic")
        assert pushed.output["exit_code"] == 0, pushed
        assert pusher.has("topic")

    as_somebody("me", attempt)
