"""Folder trust: what a folder brings is asked about once, and again when it changes."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.governance import folders
from steersman.governance.folders import (
    Finding,
    Item,
    Standing,
    compare,
    digest_of,
    findings,
    forget,
    record,
    standing,
)
from steersman.store.sqlite import SqliteStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def store(tmp_path: Path):
    opened = SqliteStore(tmp_path / "data")
    yield opened
    opened.close()


def put(folder: Path, name: str, text: str = "x") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_exceptions_to_secret_files_are_agreed_to_line_by_line(folder, store):
    ignored = put(folder, ".steersmanignore", "a.txt\n!.env\n")
    (finding,) = standing(store, str(folder)).found
    assert (finding.path, finding.what) == (
        ".steersmanignore",
        "exceptions to secret files: !.env",
    )
    record(store, str(folder), (finding,), trusted=True)
    ignored.write_text("b.txt\n!.env\nc.txt\n")
    assert standing(store, str(folder)).state == "trusted"
    ignored.write_text("!.env\n!b.pem\n")
    assert standing(store, str(folder)).changed == (".steersmanignore",)
    ignored.write_text("b.txt\n")
    assert standing(store, str(folder)).state == "nothing"


BRINGS = {
    ".steersman/config.toml": (".steersman/config.toml", "settings"),
    ".steersman/rules.toml": (".steersman/rules.toml", "rules"),
    ".steersman/hooks.toml": (".steersman/hooks.toml", "hooks"),
    ".steersman/hooks/start.sh": (".steersman/hooks", "hooks"),
    ".steersman/skills/a/SKILL.md": (".steersman/skills", "skills"),
    ".steersman/commands/x.md": (".steersman/commands", "commands"),
    ".steersman/agents/x.md": (".steersman/agents", "agents"),
    ".steersman/mcp.json": (".steersman/mcp.json", "MCP servers"),
    ".mcp.json": (".mcp.json", "MCP servers"),
    ".claude/settings.json": (".claude/settings.json", "settings of Claude Code"),
    ".claude/settings.local.json": (".claude/settings.local.json", "settings of Claude Code"),
    ".claude/skills/a/SKILL.md": (".claude/skills", "skills"),
    ".claude/commands/x.md": (".claude/commands", "commands"),
    ".claude/agents/x.md": (".claude/agents", "agents"),
    ".claude/hooks/x.sh": (".claude/hooks", "hooks"),
    ".agents/skills/a/SKILL.md": (".agents", "agents and skills"),
    ".codex/config.toml": (".codex", "settings of Codex"),
    ".gemini/settings.json": (".gemini", "settings of Gemini CLI"),
    "opencode.json": ("opencode.json", "settings of OpenCode"),
    ".aider.conf.yml": (".aider.conf.yml", "settings of aider"),
}
NOTHING = [
    "AGENTS.md", "CLAUDE.md", "README.md", "deep/.mcp.json", "deep/.claude/settings.json",
    ".claude/notes.md", ".steersman/plans/x.md", ".steersman/rules.toml.old", ".steersmanignore",
    ".claudex/settings.json", ".steersman/skillset/x",
]  # fmt: skip


@pytest.mark.parametrize("name", BRINGS)
def test_what_steers_the_host_is_found(folder, name):
    put(folder, name)
    [finding] = findings(str(folder))
    assert (finding.path, finding.what) == BRINGS[name]
    assert (finding.files, finding.whole) == (1, True)


@pytest.mark.parametrize("name", NOTHING)
def test_what_is_only_read_by_a_model_or_by_nobody_is_not(folder, name):
    put(folder, name)
    assert findings(str(folder)) == ()


def test_an_empty_folder_brings_nothing(folder, tmp_path):
    (folder / ".claude" / "skills").mkdir(parents=True)
    (folder / ".codex").mkdir()
    assert findings(str(folder)) == findings(str(tmp_path / "nowhere")) == ()


def test_the_life_of_a_folder(folder, store):
    where = str(folder)
    assert standing(store, where) == Standing("nothing")
    put(folder, ".mcp.json", "{}")
    found = findings(where)
    assert standing(store, where) == Standing("unknown", found)

    record(store, where, found, trusted=True)
    assert standing(store, where) == Standing("trusted", found)

    put(folder, ".mcp.json", "[]")
    put(folder, ".claude/settings.json")
    now = findings(where)
    assert standing(store, where) == Standing(
        "changed", now, added=(".claude/settings.json",), changed=(".mcp.json",)
    )
    record(store, where, now, trusted=False)
    assert standing(store, where) == Standing("refused", now)

    (folder / ".mcp.json").unlink()
    left = findings(where)
    assert standing(store, where) == Standing("changed", left, removed=(".mcp.json",))
    put(folder, ".mcp.json", "[]")
    assert standing(store, where).state == "refused"

    forget(store, where)
    assert standing(store, where) == Standing("unknown", now)


def test_a_word_is_about_what_was_shown_and_not_about_what_came_after(folder, store):
    put(folder, ".mcp.json", "{}")
    shown = findings(str(folder))
    put(folder, ".mcp.json", '{"mcpServers": {}}')
    record(store, str(folder), shown, trusted=True)
    assert standing(store, str(folder)).state == "changed"


def test_trust_in_one_folder_is_none_in_another(folder, store, tmp_path):
    other = tmp_path / "project-evil"
    for place in (folder, other):
        put(place, ".mcp.json")
    record(store, str(folder), findings(str(folder)), trusted=True)
    assert standing(store, str(other)).state == "unknown"


def test_a_record_that_cannot_be_read_is_no_trust(folder, store):
    put(folder, ".mcp.json")
    store.remember(f"folder:{folder}", "trust", "{broken")
    assert standing(store, str(folder)).state == "unknown"


CHANGES = {
    "content": lambda skill: skill.write_text("y"),
    "size": lambda skill: skill.write_text("xx"),
    "name": lambda skill: skill.rename(skill.with_name("z")),
    "another file": lambda skill: skill.with_name("b").write_text(""),
    "a link": lambda skill: skill.with_name("b").symlink_to("a"),
    "gone": lambda skill: skill.unlink(),
    "a folder instead": lambda skill: (
        skill.unlink(),
        skill.mkdir(),
        (skill / "x").write_text("x"),
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_every_change_below_is_a_change(folder, store, change):
    skill = put(folder, ".claude/skills/one/a")
    put(folder, ".claude/skills/two/a")
    record(store, str(folder), findings(str(folder)), trusted=True)
    os.utime(skill, (0, 0))
    assert standing(store, str(folder)).state == "trusted"
    change(skill)
    assert standing(store, str(folder)).state == "changed"


def test_a_link_inside_the_workspace_is_followed(folder, store):
    put(folder, "shared/settings.json", "{}")
    (folder / ".claude").mkdir()
    (folder / ".claude" / "settings.json").symlink_to("../shared/settings.json")
    (folder / ".codex").symlink_to("shared")
    record(store, str(folder), findings(str(folder)), trusted=True)
    assert standing(store, str(folder)).state == "trusted"
    put(folder, "shared/settings.json", "[]")
    now = standing(store, str(folder))
    assert (now.state, now.changed) == ("changed", (".claude/settings.json", ".codex"))


def test_a_link_that_leads_outside_is_kept_as_a_link(folder, tmp_path):
    outside = put(tmp_path, "outside/settings.json", "{}")
    (folder / ".mcp.json").symlink_to(outside)
    before = findings(str(folder))
    outside.write_text("[]")
    assert findings(str(folder)) == before
    (folder / ".mcp.json").unlink()
    (folder / ".mcp.json").symlink_to(outside.parent)
    assert findings(str(folder)) != before


def test_loops_end(folder):
    skills = folder / ".claude" / "skills"
    put(folder, ".claude/skills/a")
    for number in range(8):
        (skills / f"l{number}").symlink_to(".")
    (skills / "self").symlink_to("self")
    [finding] = findings(str(folder))
    assert finding.whole
    assert finding.files < 40


def a_link_to_everything(folder: Path) -> None:
    (folder / ".claude").mkdir()
    (folder / ".claude" / "skills").symlink_to("..")


def too_many_files(folder: Path) -> None:
    (folder / ".codex").mkdir()
    for number in range(folders.MOST_FILES):
        os.symlink("nowhere", folder / ".codex" / f"{number}")


def too_large(folder: Path) -> None:
    os.truncate(put(folder, ".codex/x"), folders.MOST_BYTES + 1)


def too_deep(folder: Path) -> None:
    put(folder, ".codex/" + "d/" * 70 + "x")


@pytest.mark.parametrize(
    "make", [a_link_to_everything, too_many_files, too_large, too_deep], ids=lambda f: f.__name__
)
def test_what_cannot_be_looked_at_cannot_be_trusted(folder, store, make):
    make(folder)
    [finding] = found = findings(str(folder))
    assert not finding.whole
    record(store, str(folder), found, trusted=True)
    assert standing(store, str(folder)).state == "unknown"
    assert "too large to check" in standing(store, str(folder)).sentence("/p")


def test_a_pipe_is_not_waited_for(folder):
    os.mkfifo(folder / ".mcp.json")
    [finding] = findings(str(folder))
    assert finding.path == ".mcp.json"


def test_names_that_are_not_utf_8_are_kept_apart(folder, store):
    skills = folder / ".claude" / "skills"
    skills.mkdir(parents=True)
    (skills / os.fsdecode(b"\xff")).write_text("x")
    (folder / ".steersman").mkdir()
    (folder / ".steersman" / os.fsdecode(b"hooks-\xff")).write_text("x")
    found = findings(str(folder))
    assert [finding.path for finding in found] == [".claude/skills", ".steersman/hooks-\\xff"]
    record(store, str(folder), found, trusted=True)
    assert standing(store, str(folder)).state == "trusted"


MCP = Finding(".mcp.json", "MCP servers", "1")
RULES = Finding(".steersman/rules.toml", "rules", "2")


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (Standing("nothing"), ""),
        (Standing("trusted", (MCP,)), ""),
        (
            Standing("unknown", (MCP, RULES)),
            "/p comes with MCP servers (.mcp.json), rules (.steersman/rules.toml). You have not "
            "been asked about this yet. None of it is used.",
        ),
        (
            Standing("refused", (MCP,)),
            "/p comes with MCP servers (.mcp.json). You chose not to trust it. None of it is used.",
        ),
        (
            Standing("changed", (MCP,), added=("a",), changed=(".mcp.json",), removed=("b", "c")),
            "/p comes with MCP servers (.mcp.json). This changed since you were asked (new: a; "
            "changed: .mcp.json; gone: b, c). None of it is used.",
        ),
    ],
    ids=lambda value: value.state if isinstance(value, Standing) else "",
)
def test_a_person_is_told_in_a_sentence(now, told):
    assert now.sentence("/p") == told
    assert now.loads is (told == "")


items = st.builds(Item, st.text("ab/", max_size=3), st.integers(0, 3), st.text("xy", max_size=2))


@given(
    st.lists(items, unique_by=lambda item: item.path), st.lists(items, unique_by=lambda i: i.path)
)
def test_a_digest_is_the_same_for_the_same_files_only(one, other):
    same = sorted(one, key=repr) == sorted(other, key=repr)
    assert (digest_of(one) == digest_of(other)) is same
    assert digest_of(one) == digest_of(reversed(one))


@given(st.dictionaries(st.text("ab", max_size=2), st.text("xy", max_size=1)), st.booleans())
def test_only_what_is_exactly_as_agreed_is_trusted(agreed, trusted):
    found = tuple(Finding(path, "x", digest) for path, digest in agreed.items())
    expected = ("trusted" if trusted else "refused") if found else "nothing"
    assert compare(found, trusted, agreed).state == expected
    more = (*found, Finding("new", "x", ""))
    assert compare(more, trusted, agreed) == Standing("changed", more, added=("new",))
    assert compare(more, None, {}).state == "unknown"
