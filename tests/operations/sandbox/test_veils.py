"""Thousands of secret files: commands run, none of the files is read, and all of them stay."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from steersman.operations.journal.changeset import Changeset
from steersman.operations.running import masks
from steersman.records.errors import ToolProblem
from steersman.records.profile import Profile
from tests.operations.sandbox.kit import EVERYBODY, SECRET, Ground, World, as_somebody
from tests.operations.transactions.tree import tree

MANY = 3 * masks.MOST
READS = (
    "cat key*.pem mixed/deep/key*.pem; cp key1.pem stolen; tar c . | strings; ln key2.pem linked; "
    "mv key3.pem moved; chmod 777 key4.pem; cat key4.pem moved stolen linked; "
    "rm -f key5.pem; cat key5.pem; git diff --no-index key6.pem open.txt; cat open.txt"
)
DESTROYS = (
    "rm -rf mixed; rm -f *.pem; mkdir -p mixed/deep; echo mine > key1.pem; mkdir key2.pem; "
    "echo x > key2.pem/x; echo y > mixed/deep/key1.pem; echo done > result"
)


def secrets(root: Path) -> list[str]:
    """Key files beside others, in the workspace and deep in it."""
    (root / "mixed/deep").mkdir(parents=True)
    (root / "mixed/deep/code.py").write_text("code")
    made = []
    for number in range(MANY):
        for path in (root / f"key{number}.pem", root / f"mixed/deep/key{number}.pem"):
            path.write_text(SECRET)
            made.append(str(path))
    return made


WAYS: tuple[Ground, ...] = ("view", "copy")


def over(world: World, way: Ground, script: str, profile: Profile) -> Changeset:
    changes = world.try_out(script, way, profile)
    assert changes is not None
    return changes


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("who", EVERYBODY)
def test_none_of_thousands_of_secret_files_is_read(who: str, way: Ground) -> None:
    def do(world: World) -> None:
        many = (*world.profile.hidden, *secrets(world.root))
        before = tree(world.root)
        found = over(world, way, READS, replace(world.profile, hidden=many))
        assert SECRET not in world.said
        assert world.done.stdout.endswith("open")
        kept = [change.after.digest for change in found.changes if change.after.digest]
        for digest in kept:
            with world.objects.open(digest) as file:
                assert SECRET.encode() not in file.read()
        assert tree(world.root) == before

    as_somebody(who, do)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("who", EVERYBODY)
def test_what_is_done_to_a_hidden_file_is_no_change(who: str, way: Ground) -> None:
    def do(world: World) -> None:
        many = (*world.profile.hidden, *secrets(world.root))
        found = over(world, way, DESTROYS, replace(world.profile, hidden=many))
        changed = [(change.path, change.after.kind) for change in found.changes]
        assert changed == [("mixed/deep/code.py", "absent"), ("result", "file")], world.said
        assert any("hidden" in note for note in found.notes)
        quiet = over(world, way, "ls -R >/dev/null; touch -r open.txt x; rm x", world.profile)
        assert quiet.changes == []

    as_somebody(who, do)


@pytest.mark.parametrize("way", WAYS)
def test_a_command_that_does_nothing_changes_nothing(way: Ground) -> None:
    def do(world: World) -> None:
        many = (*world.profile.hidden, *secrets(world.root))
        found = over(world, way, "cat open.txt", replace(world.profile, hidden=many))
        assert (found.changes, found.notes, found.remove) == ([], [], [])

    as_somebody("me", do)


@pytest.mark.parametrize("who", EVERYBODY)
def test_a_program_that_only_looks_sees_none_of_them(who: str) -> None:
    def do(world: World) -> None:
        many = (*world.profile.hidden, *secrets(world.root))
        world.try_out(READS, "read", replace(world.profile, hidden=many))
        assert SECRET not in world.said
        assert world.done.stdout.endswith("open")

    as_somebody(who, do)


@pytest.mark.parametrize("ground", ["view", "copy", "read"])
def test_a_folder_of_nothing_but_secret_files_is_covered_as_a_whole(ground: Ground) -> None:
    def do(world: World) -> None:
        (world.root / "keys/old").mkdir(parents=True)
        made = [world.root / f"keys/{place}{n}.pem" for n in range(MANY) for place in ("", "old/")]
        for path in made:
            path.write_text(SECRET)
        many = (*world.profile.hidden, *map(str, made))
        profile = replace(world.profile, hidden=many)
        world.try_out("cat keys/*.pem keys/1.pem; ls keys; cat open.txt", ground, profile)
        assert SECRET not in world.said
        assert "Permission denied" in world.said
        assert world.done.stdout == "open"
        assert len(masks.hidden(many, str(world.root))) < 10

    as_somebody("me", do)


def test_too_many_where_nothing_can_be_overlaid_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rather than to hide some of them."""
    found = World.bubblewrap
    monkeypatch.setattr(World, "bubblewrap", lambda self: replace(found(self), attributes=""))

    def do(world: World) -> None:
        many = (*world.profile.hidden, *secrets(world.root))
        with pytest.raises(ToolProblem, match="hidden"):
            world.try_out("true", "read", replace(world.profile, hidden=many))

    as_somebody("me", do)
