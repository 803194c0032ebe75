"""A workspace in a temporary folder: what is beside it does not pretend to be written."""

import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.operations.sandbox.kit import EVERYBODY, Ground, World, as_somebody

NEEDS = """set -e
[ "$(cat ../outside/precious)" = precious ]
d=$(mktemp -d); : > "$d/f"; : > /tmp/made-by-a-command; : > inside
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$d/s"
echo works
"""
WRITES = ("echo saved > ../outside/precious", "rm ../outside/precious", "mkdir ../outside/new",
          "echo x > ../new", "rm -r ../outside", "mv ../outside ../gone")  # fmt: skip


@pytest.mark.parametrize("place", ["/tmp", "/var/tmp"])
@pytest.mark.parametrize("ground", ["view", "copy"])
@pytest.mark.parametrize("who", EVERYBODY)
def test_writing_beside_fails_and_temporary_files_work(
    who: str, ground: Ground, place: str
) -> None:
    def attempt(_: World) -> None:
        with tempfile.TemporaryDirectory(dir=place) as folder:
            world = World(Path(folder))
            world.try_out(NEEDS, ground)
            assert world.done.stdout == "works\n", world.said
            world.try_out(
                "; ".join(f"{one} 2>/dev/null && echo PRETENDS" for one in WRITES), ground
            )
            assert world.done.stdout == "", world.said

    as_somebody(who, attempt)


@pytest.mark.parametrize("who", EVERYBODY)
def test_a_push_to_a_repository_beside_a_workspace_says_that_it_failed(who: str) -> None:
    """Also where they are in a temporary folder without a folder of their own."""
    line = (
        "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && "
        "git push {} HEAD:main && echo PUSHED"
    )

    def attempt(world: World) -> None:
        with tempfile.TemporaryDirectory(dir="/tmp") as origin:
            subprocess.run(["git", "init", "-q", "--bare", origin], check=True)
            with tempfile.TemporaryDirectory(dir="/tmp") as root:
                world.root = Path(root)
                world.try_out(line.format(origin))
            assert "rejected" in world.said
            assert "PUSHED" not in world.said

    as_somebody(who, attempt)
