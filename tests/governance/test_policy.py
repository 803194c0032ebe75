"""The decision, over every mode, trust, approvals level, kind of action and place."""

from itertools import product
from pathlib import PurePosixPath
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.action import Action, Delete, Execute, Read, Write
from steersman.governance.policy import Approvals, Circumstances, Mode, Trust, decide, inside

HOME = "/srv/app"
# What is decided inside the workspace on looking, on changing or running, on letting an agent work.
TABLE = {
    ("code", "sandboxed", "on-request"): "allow ask   allow",
    ("code", "sandboxed", "never"):      "allow allow allow",
    ("code", "restricted", "on-request"): "allow deny  allow",
    ("code", "restricted", "never"):     "allow deny  allow",
    ("ask", "sandboxed", "on-request"):  "allow deny  deny",
    ("ask", "sandboxed", "never"):       "allow deny  deny",
    ("ask", "restricted", "on-request"): "allow deny  deny",
    ("ask", "restricted", "never"):      "allow deny  deny",
}  # fmt: skip


# Which part of the table speaks about a kind of action; a new kind must be thought about here.
KINDS = {
    "read": "look",
    "list": "look",
    "search": "look",
    "write": "change",
    "delete": "change",
    "change_many": "change",
    "execute": "change",
    "spawn_agent": "agent",
}


def actions(path: str) -> dict[str, list[Action]]:
    """Every kind of action at a place; an agent works nowhere in particular."""
    made: dict[str, list[Action]] = {"look": [], "change": [], "agent": []}
    for kind in get_args(Action):
        needed = [field.name for field in msgspec.structs.fields(kind) if field.required]
        fields = {name: path if name in ("path", "cwd") else "x" for name in needed}
        made[KINDS[kind.__struct_config__.tag]].append(kind(**fields))
    return made


def test_the_table_knows_every_combination_there_is():
    assert set(TABLE) == set(product(get_args(Mode), get_args(Trust), get_args(Approvals)))
    assert {kind.__struct_config__.tag for kind in get_args(Action)} <= set(KINDS)


INSIDE = [HOME, "/srv/app/calc.py", "/srv/app/.git/HEAD", "/srv/app/..x", "/srv/app/a b/ü"]
OUTSIDE = ["/", "/srv", "/srv/app-evil", "/srv/app-evil/calc.py", "/srv/ap", "/srv/App", "/etc/x",
           "/srv/app.py", "//srv/app", "srv/app", "/other/srv/app/x", ""]  # fmt: skip


@pytest.mark.parametrize("how", TABLE, ids=" ".join)
@pytest.mark.parametrize("path", INSIDE + OUTSIDE)
def test_the_verdict_is_the_one_of_the_table(how, path):
    mode, trust, approvals = how
    where = Circumstances(HOME, mode, trust, approvals)
    expected = dict(zip(("look", "change", "agent"), TABLE[how].split(), strict=True))
    for group, kinds in actions(path).items():
        for action in kinds:
            verdict = decide(action, where)
            outside = path in OUTSIDE and group != "agent"
            assert verdict.decision == ("deny" if outside else expected[group]), action
            assert verdict.rule
            assert verdict.reason
            assert bool(verdict.instead) is (verdict.decision == "deny")


@pytest.mark.parametrize("origin", ["command", "person"])
@pytest.mark.parametrize("kind", [Write, Delete])
@pytest.mark.parametrize("how", TABLE, ids=" ".join)
def test_what_follows_from_a_word_already_given_is_not_asked_about_again(kind, origin, how):
    """It is still not let past the trust, the mode or the workspace."""
    where = Circumstances(HOME, *how)
    _, changed, _ = TABLE[how].split()
    expected = "allow" if changed == "ask" else changed
    assert decide(kind(f"{HOME}/x", origin=origin), where).decision == expected
    assert decide(kind("/etc/passwd", origin=origin), where).decision == "deny"


def test_without_a_word_the_safest_useful_circumstances_hold():
    assert Circumstances(HOME) == Circumstances(HOME, "code", "sandboxed", "on-request")


@pytest.mark.parametrize(
    ("action", "how", "rule"),
    [
        (Write("/etc/passwd"), ("ask", "restricted", "never"), "trust.restricted"),
        (Write("/etc/passwd"), ("ask", "sandboxed", "never"), "mode.ask"),
        (Write("/etc/passwd"), ("code", "sandboxed", "never"), "paths.outside"),
        (Execute("ls", HOME), ("code", "sandboxed", "never"), "approvals.never"),
        (Execute("ls", HOME), ("code", "sandboxed", "on-request"), "approvals.on-request"),
        (Read("/etc/passwd"), ("ask", "restricted", "never"), "paths.outside"),
        (Read(HOME), ("ask", "restricted", "never"), "paths.inside"),
    ],
)
def test_the_first_rule_that_applies_decides(action, how, rule):
    assert decide(action, Circumstances(HOME, *how)).rule == rule


names = st.sampled_from(["srv", "app", "app-evil", "a", ".."]) | st.text("ab.", min_size=1)
paths = st.lists(names.filter(lambda name: name != "."), max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)


@given(paths, paths)
def test_inside_means_the_folder_or_below_it_by_whole_names(path, folder):
    expected = PurePosixPath(folder) in (PurePosixPath(path), *PurePosixPath(path).parents)
    assert inside(path, folder) is expected


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("/", "/", True),
        ("/etc", "/", True),
        ("/srv/app/x", "/srv/app/", True),
        ("/srv/app-evil", "/srv/app", False),
        ("/srv/app", "/srv/app/x", False),
    ],
)
def test_prefixes_and_the_root_are_no_traps(path, folder, expected):
    assert inside(path, folder) is expected
