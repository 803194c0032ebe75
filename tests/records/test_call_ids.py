"""Ids of calls: a model may choose any, and gets those that are its own."""

import pytest

from steersman.records.call_ids import ASK, COMMIT, HOOK, INPUT, LOOK, SERVER, distinct, fresh
from steersman.records.dialogue import Call
from steersman.records.hooks import run_name


def named(*ids: str, used: set[str] | None = None) -> list[str]:
    """The ids that calls have who came with these."""
    calls = [Call(id, "tool", {"at": at}) for at, id in enumerate(ids)]
    made = distinct(calls, set() if used is None else used)
    assert [one.arguments["at"] for one in made] == list(range(len(ids)))
    return [one.id for one in made]


@pytest.mark.parametrize("id", [
    "c1", "call_0", "toolu_01A", "functions.bash:0", "chatcmpl-tool-1f", "looking_1", "call_owner",
    "call_" + "9fK=" * 200,  # a gateway keeps in it what its provider wants handed back
])  # fmt: skip
def test_what_a_provider_calls_a_call_is_its_id(id):
    assert named(id) == [id]


@pytest.mark.parametrize("id", [
    run_name("PreToolUse", "c1", 0), "look_", "undo_12", "redo_7", "call_owner-1",
    "call_0a1b2c3d-x", "", "c1\n", "c\x001", "\ud800",
])  # fmt: skip
def test_an_id_as_the_host_makes_them_is_no_models(id):
    assert named(id)[0].startswith("call_")
    assert named(id) != [id]


@pytest.mark.parametrize("kind", [LOOK, COMMIT, HOOK, ASK, INPUT, SERVER])
def test_an_id_that_the_host_made_is_no_models(kind):
    made = fresh(kind)
    assert named(made) != [made]


def test_no_two_calls_of_a_thread_have_one_id():
    used = {"c1"}
    ids = named("c1", "c2", "c2", "c3", used=used)
    assert len({"c1", *ids}) == 5
    assert (ids[1], ids[3]) == ("c2", "c3")
    assert used == {"c1", *ids}
