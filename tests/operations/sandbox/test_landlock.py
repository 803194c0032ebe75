"""The weaker sandbox: what it holds, and, just as plainly, what it does not."""

import pytest

from steersman.operations.running import containment, landlock
from steersman.operations.running.bubblewrap import Unavailable
from steersman.operations.running.containment import Containment
from tests.operations.sandbox.attempts import ATTEMPTS
from tests.operations.sandbox.kit import EVERYBODY, World, as_somebody, attack

# Landlock knows no rule below a rule, so the workspace is open as a whole; and it does not watch
# over the modes, owners, times and marks of files.
NOT_HELD = {
    "cat a secret", "read a secret with python", "read a secret through a link",
    "read a secret through a hard link", "read a copy of a secret", "archive a secret",
    "search for a secret", "move a secret's folder away", "rename a secret's folder",
    "move a secret away", "change a secret's mode", "map a secret",
    "open a secret without reading", "exchange a secret with a file", "unmount a cover",
    "look for it in git", "change modes outside", "change times outside", "mark files outside",
    "reach the host's own folders",
}  # fmt: skip


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize("name", [name for name in ATTEMPTS if name not in NOT_HELD])
def test_what_it_holds(name: str, who: str) -> None:
    """The same attempts as in the full sandbox."""

    def do(world: World) -> None:
        attack(world, ATTEMPTS[name], "landlock")

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
def test_secrets_outside_the_workspace_are_held_back(who: str) -> None:
    """Their names are seen; their neighbours can be read."""

    def do(world: World) -> None:
        script = "cat ~/.ssh/id ~/.netrc $OUTSIDE/also 'secret link'; ls ~/.ssh; cat link"
        said = attack(world, script, "landlock")
        assert said.count("Permission denied") == 4
        assert "id\n" in said
        assert "precious" in said

    as_somebody(who, do)


def test_secrets_inside_the_workspace_are_not() -> None:
    """Said plainly, because it is so."""

    def do(world: World) -> None:
        world.try_out("cat .env; echo x > .envrc", "landlock")
        assert world.done.stdout == "s3cret-words-nobody-may-read"
        assert (world.root / ".envrc").read_text() == "x\n"

    as_somebody("me", do)


@pytest.mark.parametrize("who", EVERYBODY)
def test_work_is_done(who: str) -> None:
    """In the workspace and in a temporary folder."""

    def do(world: World) -> None:
        script = (
            "echo a > new && mkdir -p d/e && mv new d/e && cat d/e/new && mktemp && id && "
            "python3 -c 'import asyncio; asyncio.run(asyncio.sleep(0))' && env"
        )
        world.try_out(script, "landlock")
        assert world.done.returncode == 0, world.said
        assert "HOST_KEY" not in world.said

    as_somebody(who, do)


def test_it_is_announced_as_weaker(monkeypatch: pytest.MonkeyPatch) -> None:
    """And where it does not work either, there is nothing."""

    def do(world: World) -> None:
        def found() -> Containment:
            return containment.means(str(world.root), str(world.scratch)).containment

        assert found() == Containment("full")
        monkeypatch.setattr(containment, "find", lambda *_: Unavailable("No bubblewrap."))
        assert found().level == "weaker"
        assert found().reason.startswith("No bubblewrap. Landlock only: secrets inside the work")
        monkeypatch.setattr(containment, "_WEAKER", {})
        monkeypatch.setattr(landlock, "NEEDED", 99)
        assert found().level == "none"
        assert "Landlock does not help: Landlock 99 is needed" in found().reason

    as_somebody("me", do)
