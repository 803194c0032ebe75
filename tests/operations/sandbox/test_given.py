"""Files that a command was given by name: they change as programs do it, and nothing else does."""

import os
from pathlib import Path

import pytest

from steersman.operations.running.bubblewrap import Bubblewrap
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
        assert len(given.covered) == 3
        run.beside = given.mounts
        *_, upper, _, _ = given.mounts[str(home)]
        world._run(run.argv([*SHELL, SCRIPT], str(world.root), world.profile), run.descriptors)
        assert given.dropped() == [str(home / "kept"), str(home / "other")]
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


SAVES = """
cd ~; for name in kept saved deleted; do echo command > $name; done
mkdir -p shared; echo command > shared/file; echo command > new; mkfifo pipe
"""


def contest(world: World) -> None:
    home = world.home
    names = ("kept", "saved", "deleted", "new", "shared", "pipe")
    for name in names[:3]:
        (home / name).write_text("old\n")
    bubblewrap = world.bubblewrap()
    with Overlay(bubblewrap).begin(str(world.root), str(world.scratch)) as run:
        given = Given(bubblewrap, [str(home / name) for name in names])
        run.beside = given.mounts
        world._run(run.argv([*SHELL, SAVES], str(world.root), world.profile), run.descriptors)
        (home / "shared").mkdir()
        for name in ("saved", "new", "shared/file"):
            (home / name).write_text("person\n")
        (home / "deleted").unlink()
        special, note = given.take_over(world.objects)
        given.discard()
    assert special.startswith("Not kept: ")
    assert str(home) not in special
    assert note == (
        "not written, because someone else changed it while the command ran: "
        + ", ".join(str(home / name) for name in ("deleted", "new", "saved"))
        + ", …"
    )
    assert (home / "kept").read_text() == "command\n"
    assert not (home / "deleted").exists()
    for name in ("saved", "new", "shared/file"):
        assert (home / name).read_text() == "person\n"


def test_what_a_person_saved_meanwhile_stays() -> None:
    as_somebody(EVERYBODY[0], contest)


def test_nothing_is_left_where_it_cannot_be_found_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The probe may fail: the scratch folder goes then, too."""
    home, scratch = tmp_path / "home", tmp_path / "scratch"
    home.mkdir()
    scratch.mkdir()
    monkeypatch.setattr("steersman.operations.running.given.beside", lambda _: str(scratch))
    broken = Bubblewrap("/no-such-program", own_users=False, attributes="user.overlay.")
    given = Given(broken, [str(home / "new")])
    assert given.covered == frozenset()
    given.discard()
    with pytest.raises(FileNotFoundError):
        Given(broken, [str(home / "missing/new")])
    assert os.listdir(scratch) == []
