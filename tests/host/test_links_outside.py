"""What runs outside the sandbox writes through no link that a command inside it has made since."""

import encodings.idna  # noqa: F401  # an ordinary user may be unable to read it later
import os
import subprocess

import pytest

from steersman.records.message import ConfirmRequest, ConfirmResponse, Message
from tests.operations.sandbox.kit import EVERYBODY, World, as_somebody
from tests.operations.workshop import Workshop

SETTING = """git init -q . && echo a > a && git add a
git -c user.name=x -c user.email=x@y commit -qm Begin"""


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize(
    ("command", "name"),
    [("git format-patch -1 --root", "0001-Begin.patch"),
     ("git archive -o sub/a.tar HEAD", "sub/a.tar")],
)  # fmt: skip
def test_a_link_put_in_place_later_is_not_written_through(
    who: str, command: str, name: str
) -> None:
    """Nobody can be led to answer for the thread, so the second time is asked about again."""

    def attempt(world: World) -> None:
        subprocess.run(SETTING, shell=True, cwd=world.root, check=True)
        target = world.home / ".bashrc"
        target.write_text("mine\n")
        asked: list[ConfirmRequest] = []
        left = ["allow", "deny"]

        def answer(message: Message) -> ConfirmResponse:
            assert isinstance(message.body, ConfirmRequest)
            asked.append(message.body)
            return ConfirmResponse(left.pop(0))

        environ = {"HOME": str(world.home)}
        workshop = Workshop(world.root, answer=answer, environ=environ, approvals="review")
        outside = ("workspace_run_command", {"command": command, "outside_sandbox": True})
        link = {"command": f"ln -sf {target} {name}"}
        first, _, second = workshop.do(outside, ("workspace_run_command", link), outside)
        assert [one.lasting for one in asked] == [(), ()]
        assert first.output["exit_code"] == 0, first
        assert second.status == "denied", second
        assert os.readlink(world.root / name) == str(target)
        assert target.read_text() == "mine\n"

    as_somebody(who, attempt)
