"""Unix sockets inside the workspace: what the host listens on is out of reach, on every ground."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from steersman.governance.confinement import Confinement
from steersman.governance.policy import Circumstances
from steersman.records.action import Execute
from tests.operations.sandbox.attempts import ATTEMPTS, REACHING
from tests.operations.sandbox.kit import EVERYBODY, Ground, World, as_somebody, hosting
from tests.operations.workshop import Workshop

UNIX = [name for name in REACHING if "socket" in name or "link" in name]
GROUNDS = ["view", "copy", "read", "beside", "landlock"]
CONNECT = "python3 -c 'import socket, sys; socket.socket(1).connect(sys.argv[1])' "


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", UNIX)
def test_a_daemon_that_listens_in_the_workspace_is_not_reached(
    name: str, ground: Ground, who: str
) -> None:
    def do(world: World) -> None:
        (world.root / ".run").mkdir()
        with hosting(world, world.root / ".run") as host:
            environ = {**world.profile.environ, **host.facts}
            world.try_out(ATTEMPTS[name], ground, replace(world.profile, environ=environ))
            assert host.visited() == [], world.said
            assert "ESCAPED" not in world.said

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize("ground", ["view", "copy", "read"])
def test_commands_still_talk_among_themselves(ground: Ground, who: str) -> None:
    def do(world: World) -> None:
        world.try_out(
            'python3 -c \'import socket; s = socket.socket(1); s.bind("/tmp/own"); s.listen(); '
            'socket.socket(1).connect("/tmp/own"); print("joined")\'',
            ground,
        )
        assert "joined" in world.said

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
def test_only_a_socket_that_the_person_named_is_reached(who: str) -> None:
    def do(world: World) -> None:
        with hosting(world, world.root) as inside, hosting(world) as outside:
            profile = replace(world.profile, sockets=(outside.path,))
            world.try_out(CONNECT + inside.path, "view", profile)
            assert inside.visited() == []
            world.try_out(CONNECT + outside.path, "view", profile)
            assert outside.visited() == ["unix"], world.said

    as_somebody(who, do)


def test_a_name_that_a_link_of_the_workspace_turned_is_not_followed(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path)) / "work"
    root.mkdir()
    (root / "turned").symlink_to("/run/engine.sock")
    made = Confinement(
        {}, home="/home/dev", state=(), cache="", sockets=("turned", "plain", "~/x.sock")
    )
    where, action = Circumstances(str(root)), Execute("make", str(root))
    assert made.profile(action, where, None, ()).sockets == (f"{root}/plain", "/home/dev/x.sock")
    plan = replace(where, mode="plan")
    assert made.profile(action, plan, None, ()).sockets == ()


@pytest.mark.parametrize(("mode", "background"), [("plan", False), ("code", True), ("code", False)])
def test_a_command_through_the_gate_does_not_reach_it_either(mode: str, background: bool) -> None:
    def do(world: World) -> None:
        with hosting(world, world.root) as host:
            shop = Workshop(world.root, mode=mode, answer=lambda _: "allow")
            shop.one(
                "workspace_run_command", command=CONNECT + host.path, background=background,
                wait_timeout=20,
            )  # fmt: skip
            assert host.visited() == []

    as_somebody("me", do)
