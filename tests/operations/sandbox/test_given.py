"""Files that a command was given by name: they change as programs do it, and nothing else does."""

import os

import pytest

from steersman.operations.running.given import Given
from steersman.operations.running.overlay import Overlay
from tests.operations.sandbox.kit import EVERYBODY, SECRET, SHELL, World, as_somebody

SCRIPT = """
cd ~; cat .ssh/id .netrc; echo x >> .ssh/id; echo x > .netrc
echo new > notes.tmp && mv notes.tmp notes
rm gone; mkdir -p made/inner; ln -s inner made/link; echo other > other; rm kept
"""


def change(world: World) -> None:
    home = world.home
    for name in ("notes", "gone", "kept"):
        (home / name).write_text("old\n")
    bubblewrap = world.bubblewrap()
    with Overlay(bubblewrap).begin(str(world.root), str(world.scratch)) as run:
        given = Given(bubblewrap, [str(home / name) for name in ("notes", "gone", "made")])
        assert given.left == ()
        run.beside = given.mounts
        *_, upper, _, _ = given.mounts[str(home)]
        world._run(run.argv([*SHELL, SCRIPT], str(world.root), world.profile), run.descriptors)
        (note,) = given.take_over(world.objects)
        given.discard()
    assert SECRET not in world.said
    assert "other" in note
    assert "kept" in note
    assert (home / "notes").read_text() == "new\n"
    assert (home / "kept").read_text() == "old\n"
    assert (home / ".ssh/id").read_text() == (home / ".netrc").read_text() == SECRET
    assert os.readlink(home / "made/link") == "inner"
    assert sorted(os.listdir(home)) == [".netrc", ".ssh", "kept", "made", "notes"]
    assert not os.path.exists(upper)


@pytest.mark.parametrize("who", EVERYBODY)
def test_only_given_names_change(who: str) -> None:
    as_somebody(who, change)
