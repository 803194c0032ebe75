"""Instruction files: found from the general to the near, each told once, never beyond bounds."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.identity.instructions import (
    MOST_ALL,
    MOST_FILE,
    InstructionFile,
    Instructions,
    between,
    imports,
    render,
)
from steersman.identity.places import Places, once, places, resolved
from steersman.records.secret_files import SecretFiles


class World:
    """A repository with a workspace in it, and a person with a home."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.config = self.home / ".config" / "steersman"
        self.repository = folder / "repository"
        self.workspace = self.repository / "packages" / "app"
        self.config.mkdir(parents=True)
        self.workspace.mkdir(parents=True)
        (self.repository / ".git").mkdir()
        self.environ = {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config")}

    def write(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def instructions(self, **variables: str) -> Instructions:
        return Instructions(str(self.workspace), self.environ | variables)

    def names(self, **variables: str) -> list[str]:
        return [file.name for file in self.instructions(**variables).beginning()]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


PATHS = [
    ("", "/ws", []),
    (" , ,", "/ws", []),
    ("a.md", "/ws", ["/ws/a.md"]),
    ("a.md,b/c.md", "/ws", ["/ws/a.md", "/ws/b/c.md"]),
    ("a.md", None, []),
    ("a.md,/abs.md", None, ["/abs.md"]),
    ("a.md", "not/absolute", []),
    ("~/a.md, ~", "/ws", ["/home/me/a.md", "/home/me"]),
    ("../up.md", "/ws/sub", ["/ws/up.md"]),
    ("/x/../y.md", "/ws", ["/y.md"]),
    ("a\0b", "/ws", []),
    ("/same.md,/x/../same.md", "/ws", ["/same.md", "/same.md"]),
]


@pytest.mark.parametrize(("listed", "base", "found"), PATHS)
def test_a_list_of_places_is_resolved(listed, base, found):
    assert resolved(listed, base, "/home/me") == found


@given(st.text(), st.sampled_from([None, "/ws", "rel"]))
def test_every_resolved_place_is_absolute(listed, base):
    assert all(os.path.isabs(path) for path in resolved(listed, base, "/home/me"))


def test_every_variable_has_its_places():
    environ = {
        "STEERSMAN_INSTRUCTIONS_DIRS": "rules",
        "STEERSMAN_SKILLS_DIRS": "/skills,more",
        "STEERSMAN_MCP_CONFIG_FILES": "a.json,a.json",
    }
    assert places(environ, "/ws", "/home/me") == Places(
        ("/ws/rules",),
        ("/skills", "/ws/more"),
        ("/ws/a.json",),
    )
    assert places({}, "/ws", "/home/me") == Places()


def test_the_same_file_is_never_taken_twice_whatever_it_is_called(tmp_path):
    first = tmp_path / "first.md"
    first.write_text("x")
    (tmp_path / "hard.md").hardlink_to(first)
    (tmp_path / "soft.md").symlink_to(first)
    (tmp_path / "other.md").write_text("x")
    names = [str(tmp_path / name) for name in ("soft.md", "first.md", "hard.md", "other.md")]
    assert once(names) == [names[0], names[3]]


def test_files_are_told_from_the_general_to_the_near(world):
    world.write(world.config / "AGENTS.md", "mine")
    world.write(world.repository / "AGENTS.md", "root")
    world.write(world.repository / "CLAUDE.md", "root for claude")
    world.write(world.workspace / "AGENTS.md", "app")
    world.write(world.repository.parent / "AGENTS.md", "beyond the repository")
    world.write(world.home / "rules" / "AGENTS.md", "rules")
    world.write(world.home / "rules" / "other.md", "another name")
    found = world.names(STEERSMAN_INSTRUCTIONS_DIRS="~/rules,missing")
    assert found == [
        "~/.config/steersman/AGENTS.md",
        "~/rules/AGENTS.md",
        str(world.repository / "AGENTS.md"),
        str(world.repository / "CLAUDE.md"),
        "AGENTS.md",
    ]


def test_the_files_can_have_another_name(world):
    world.write(world.config / "AGENTS.md", "mine")
    world.write(world.config / "TEAM.md", "mine for the team")
    world.write(world.home / "rules" / "TEAM.md", "rules")
    world.write(world.home / "rules" / "AGENTS.md", "rules for others")
    world.write(world.workspace / "AGENTS.md", "app")
    world.write(world.workspace / "TEAM.md", "app for the team")
    world.write(world.workspace / "src" / "TEAM.md", "src for the team")
    made = world.instructions(
        STEERSMAN_INSTRUCTIONS_DIRS="~/rules", STEERSMAN_INSTRUCTIONS_FILE=" TEAM.md "
    )
    assert [file.name for file in made.beginning()] == [
        "~/.config/steersman/TEAM.md",
        "~/rules/TEAM.md",
        "AGENTS.md",
        "TEAM.md",
    ]
    assert [file.name for file in made.nested("src/x.py")] == ["src/TEAM.md"]


@pytest.mark.parametrize("given", ["~/me.md", "/etc/passwd", "../up.md", ".."])
def test_a_path_is_no_name_and_that_is_said(world, given):
    world.write(world.workspace / "AGENTS.md", "app")
    made = world.instructions(STEERSMAN_INSTRUCTIONS_FILE=given)
    assert [file.name for file in made.beginning()] == ["AGENTS.md"]
    assert made.notes == [
        "STEERSMAN_INSTRUCTIONS_FILE is not used: it must be the name of a file, without a folder."
    ]


def test_without_a_repository_only_the_workspace_counts(tmp_path):
    world = World(tmp_path)
    (world.repository / ".git").rmdir()
    world.write(world.repository / "AGENTS.md", "above")
    world.write(world.workspace / "CLAUDE.md", "here")
    assert world.names(GIT_CEILING_DIRECTORIES=f"/elsewhere:{tmp_path}") == ["CLAUDE.md"]


def test_a_repository_is_not_looked_for_above_a_ceiling(world):
    world.write(world.repository / "AGENTS.md", "above")
    world.write(world.workspace / "CLAUDE.md", "here")
    above = [str(world.repository / "AGENTS.md"), "CLAUDE.md"]
    ceilings = {world.repository.parent: above, world.workspace: above, world.repository: above[1:]}
    for ceiling, names in ceilings.items():
        assert world.names(GIT_CEILING_DIRECTORIES=str(ceiling)) == names


def test_what_is_named_and_missing_is_told(world):
    made = world.instructions(STEERSMAN_INSTRUCTIONS_DIRS="~/rules")
    assert made.beginning() == []
    assert made.notes == ["~/rules has no AGENTS.md or CLAUDE.md."]


def test_the_same_file_or_the_same_text_is_told_once(world):
    world.write(world.workspace / "AGENTS.md", "the rules\n")
    (world.workspace / "CLAUDE.md").symlink_to("AGENTS.md")
    world.write(world.repository / "AGENTS.md", "the rules")
    named = world.names(STEERSMAN_INSTRUCTIONS_DIRS=f"{world.workspace},.")
    assert named == ["AGENTS.md"]


def test_nested_files_are_told_when_something_below_them_is_touched(world):
    world.write(world.workspace / "AGENTS.md", "app")
    world.write(world.workspace / "src" / "AGENTS.md", "src")
    world.write(world.workspace / "src" / "deep" / "CLAUDE.md", "deep")
    world.write(world.workspace / "other" / "AGENTS.md", "other")
    made = world.instructions()
    assert [file.name for file in made.beginning()] == ["AGENTS.md"]
    assert made.nested("README.md") == []
    assert [file.text for file in made.nested("src/deep/new/x.py")] == ["src", "deep"]
    assert made.nested("src/deep/y.py") == []
    assert made.nested(str(world.workspace / "src" / "z.py")) == []
    assert [file.name for file in made.nested("other/x")] == ["other/AGENTS.md"]
    assert made.nested("/etc/passwd") == []
    assert made.nested("../../AGENTS.md") == []


def test_a_link_that_leads_out_of_the_repository_is_not_followed(world):
    secret = world.write(world.home / ".ssh" / "id", "PRIVATE")
    (world.workspace / "AGENTS.md").symlink_to(secret)
    made = world.instructions()
    assert made.beginning() == []
    assert made.notes == ["AGENTS.md is not read: it leads out of the folder."]


def test_the_persons_own_file_may_be_a_link(world):
    kept = world.write(world.home / "dotfiles" / "agents.md", "mine")
    (world.config / "AGENTS.md").symlink_to(kept)
    assert [file.text for file in world.instructions().beginning()] == ["mine"]


def test_a_secret_file_is_not_read(world):
    world.write(world.workspace / "AGENTS.md", "see @keys/prod.md")
    world.write(world.workspace / "CLAUDE.md", "@keys/prod.md")
    world.write(world.workspace / "keys" / "prod.md", "PRIVATE")
    secret_files = SecretFiles(str(world.workspace), "keys/\n")
    made = Instructions(str(world.workspace), world.environ, secret_files)
    assert "PRIVATE" not in render(made.beginning())
    assert made.notes == ["keys/prod.md is not read: it is secret."]


def test_what_claude_md_includes_is_told_after_it_inside_the_repository_only(world):
    world.write(world.home / "outside.md", "PRIVATE")
    world.write(
        world.workspace / "CLAUDE.md",
        "Read @docs/style.md and @../../ROOT.md, not `@docs/code.md` nor me@docs/mail.md.\n"
        f"```\n@docs/fenced.md\n```\n@~/outside.md @{world.home}/outside.md @docs/missing.md",
    )
    for name in ("style", "code", "mail", "fenced"):
        world.write(world.workspace / "docs" / f"{name}.md", f"{name} text")
    world.write(world.repository / "ROOT.md", "root text")
    world.write(world.workspace / "AGENTS.md", "never follows @docs/code.md")
    files = world.instructions().beginning()
    assert [file.name for file in files] == [
        "AGENTS.md",
        "CLAUDE.md",
        "docs/style.md",
        str(world.repository / "ROOT.md"),
    ]


def test_files_that_include_each_other_end(world):
    world.write(world.workspace / "CLAUDE.md", "one @sub/CLAUDE.md")
    world.write(world.workspace / "sub" / "CLAUDE.md", "two @../CLAUDE.md @CLAUDE.md")
    assert world.names() == ["CLAUDE.md", "sub/CLAUDE.md"]


def test_a_long_file_is_cut_and_says_so(world):
    world.write(world.workspace / "AGENTS.md", "word " * 10_000)
    (file,) = world.instructions().beginning()
    told = render([file])
    assert (file.shown, file.size) == (MOST_FILE, 50_000)
    assert len(told) < MOST_FILE + 600
    assert "the file has 50,000 bytes" in told


def test_all_files_together_are_bounded_and_what_is_left_out_is_told(world):
    for number in range(9):
        world.write(world.home / str(number) / "AGENTS.md", f"{number} " + "é" * 10_000)
    folders = ",".join(f"~/{number}" for number in range(9))
    made = world.instructions(STEERSMAN_INSTRUCTIONS_DIRS=folders)
    files = made.beginning()
    assert sum(len(file.text.encode()) for file in files) <= MOST_ALL
    assert made.notes[-1].endswith("48,000 bytes of instructions.")
    assert len(render(files).encode()) < MOST_ALL + 2_000


def test_rendering_is_the_same_every_time(world):
    world.write(world.workspace / "AGENTS.md", "\ufeffOne\r\nTwo\n\n")
    first, again = (render(world.instructions().beginning()) for _ in range(2))
    assert first == again
    assert first.endswith('<instructions file="AGENTS.md">\nOne\nTwo\n</instructions>')
    assert render([]) == ""
    assert 'file="a\'b"' in render([InstructionFile('a"b', "x", 1, 1)])


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"\n \n"])
def test_odd_files_do_no_harm(world, content):
    (world.workspace / "AGENTS.md").write_bytes(content)
    render(world.instructions().beginning())


def test_a_pipe_or_a_folder_is_not_waited_for(world):
    os.mkfifo(world.workspace / "AGENTS.md")
    (world.workspace / "CLAUDE.md").mkdir()
    made = world.instructions()
    assert made.beginning() == []
    assert len(made.notes) == 2


def test_folders_between():
    assert between("/a", "/a") == ["/a"]
    assert between("/a", "/a/b/c") == ["/a", "/a/b", "/a/b/c"]
    assert between("/a", "/ab") == []
    assert between("/", "/x") == ["/", "/x"]


@given(st.text())
def test_any_text_can_be_looked_through_for_includes(text):
    assert all(os.path.isabs(path) for path in imports(text, "/ws"))
