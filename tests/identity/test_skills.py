"""Skills: folders with a SKILL.md, told by name, read when needed, installed safely."""

import io
import os
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.identity import skill_install
from steersman.identity.front_matter import parse
from steersman.identity.skill_install import install
from steersman.identity.skills import (
    MOST_LISTING,
    Shelf,
    Skill,
    disabled,
    find,
    listing,
    load,
    mentioned,
    switch,
    user_folder,
)
from steersman.records.errors import UsageProblem
from steersman.store.sqlite import SqliteStore

FRONT = [
    ("---\nname: a\ndescription: does it\n---\nBody", {"name": "a", "description": "does it"}),
    ('---\nname: "a"\ndescription: "quoted: \\"x\\" # no comment"\n---\n',
     {"name": "a", "description": 'quoted: "x" # no comment'}),
    ("---\ndescription: 'it''s'  \n---\n", {"description": "it's"}),
    ("---\ndescription: >-\n  folded\n  lines\nname: a\n---\n",
     {"description": "folded lines", "name": "a"}),
    ("---\ndescription: |\n  kept\n  lines\n---\n", {"description": "kept\nlines"}),
    ("---\ndescription: goes on\n  over lines\n---\n", {"description": "goes on over lines"}),
    ("---\nname: a # why\nurl: http://x/#y\n---\n", {"name": "a", "url": "http://x/#y"}),
    ("---\ntags:\n  - one\n  - two\nname: a\n---\n", {"tags": "", "name": "a"}),
    ("---\nmap:\n  deep: 1\nname: a\n# comment\n---\n", {"map": "deep: 1", "name": "a"}),
    ("---\r\nname: a\r\n---\r\nBody", {"name": "a"}),
    ("\ufeff---\nname: a\n...\nBody", {"name": "a"}),
    ("---\nname: a\nname: b\n---\n", {"name": "a"}),
    ("---\nname: a\nno end", {}),
    ("# No front matter", {}),
    ("", {}),
    ("---\n---\n", {}),
    ('---\nname: "open\n---\n', {"name": '"open'}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "fields"), FRONT)
def test_the_simple_part_of_front_matter_is_read(text, fields):
    assert parse(text)[0] == fields


@given(st.text())
def test_any_text_can_be_parsed(text):
    fields, rest = parse(f"---\n{text}\n---\nrest")
    assert isinstance(fields, dict)
    assert rest.endswith("rest")
    parse(text)


class World:
    """A workspace, a person with a home, and skills in it."""

    def __init__(self, folder: Path) -> None:
        self.home, self.workspace = folder / "home", folder / "ws"
        self.home.mkdir()
        self.workspace.mkdir()
        self.environ = {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config")}
        self.own = Path(user_folder(self.environ))

    def skill(self, place: Path, name: str, description: str = "Does it.", body="Do it.") -> Path:
        folder = place / name
        folder.mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: {description}\n---\n{body}\n"
        (folder / "SKILL.md").write_text(text)
        return folder

    def find(self, *, trusted=True, **variables: str) -> Shelf:
        return find(str(self.workspace), self.environ | variables, trusted=trusted)

    def names(self, **how) -> list[str]:
        return [skill.name for skill in self.find(**how).skills]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_skills_are_found_in_every_place_and_those_of_a_folder_only_when_it_is_trusted(world):
    for number, place in enumerate([".steersman/skills", ".claude/skills", ".agents/skills"]):
        world.skill(world.workspace / place, f"near-{number}")
    world.skill(world.own, "own")
    world.skill(world.home / "more", "named")
    world.skill(world.home / ".agents" / "skills", "shared")
    variables = {"STEERSMAN_SKILLS_DIRS": "~/more,~/missing"}
    far = ["named", "near-0", "near-1", "near-2", "own", "shared"]
    assert world.names(trusted=True, **variables) == far
    assert world.names(trusted=False, **variables) == ["named", "own", "shared"]


def test_the_file_of_a_skill_can_have_another_name(world):
    world.skill(world.own, "usual")
    folder = world.skill(world.own, "other", body="Do it.")
    (folder / "SKILL.md").rename(folder / "HOWTO.md")
    (folder / "notes.md").write_text("More.")
    shelf = world.find(STEERSMAN_SKILL_META_FILE="HOWTO.md")
    (skill,) = shelf.skills
    said = '<skill name="other">\nDo it.\n\nFiles of this skill: notes.md\n</skill>'
    assert [load(skill), load(skill, "HOWTO.md"), load(skill, "notes.md")] == [said, said, "More."]
    path = world.find(STEERSMAN_SKILL_META_FILE="~/meta.md")
    assert [one.name for one in path.skills] == ["usual"]
    assert path.problems == (
        "STEERSMAN_SKILL_META_FILE is not used: it must be the name of a file, without a folder.",
    )


def test_the_nearest_of_a_name_counts_and_the_other_is_told(world):
    near = world.skill(world.workspace / ".steersman/skills", "same", "near")
    far = world.skill(world.own, "same", "far")
    shelf = world.find()
    assert [skill.description for skill in shelf.skills] == ["near"]
    assert shelf.problems == (f"The skill in {far} is hidden by the one in {near}.",)


def test_one_folder_under_two_names_is_one_skill(world):
    folder = world.skill(world.own, "one")
    (world.home / "more").mkdir()
    (world.home / "more" / "again").symlink_to(folder)
    shelf = world.find(STEERSMAN_SKILLS_DIRS="~/more")
    assert ([skill.name for skill in shelf.skills], shelf.problems) == (["one"], ())


WRONG = [
    ("---\nname: Not A Name\ndescription: x\n---\n", "no valid name"),
    ("---\nname: ../../evil\ndescription: x\n---\n", "no valid name"),
    ("", "no description"),
    ("---\nname: a\n---\n\n", "no description"),
]


@pytest.mark.parametrize(("text", "problem"), WRONG)
def test_a_skill_that_is_not_as_it_should_be_is_told_in_a_sentence(world, text, problem):
    folder = world.skill(world.own, "odd")
    (folder / "SKILL.md").write_text(text)
    shelf = world.find()
    assert shelf.skills == ()
    assert problem in shelf.problems[0]


def test_without_front_matter_the_folder_names_it_and_the_first_line_describes_it(world):
    folder = world.skill(world.own, "plain")
    (folder / "SKILL.md").write_text("# How to release\n\nSteps.")
    (skill,) = world.find().skills
    assert (skill.name, skill.description) == ("plain", "How to release")


def test_links_that_lead_out_of_a_trusted_folder_are_not_followed(world):
    outside = world.skill(world.home / "elsewhere", "outside")
    place = world.workspace / ".claude" / "skills"
    inner = world.skill(place, "inner")
    (place / "link").symlink_to(outside)
    (inner / "SKILL.md").unlink()
    (inner / "SKILL.md").symlink_to(outside / "SKILL.md")
    shelf = world.find()
    assert shelf.skills == ()
    assert all("leads out" in problem for problem in shelf.problems)
    assert len(shelf.problems) == 2


def test_the_list_in_the_prompt_is_stable_bounded_and_leaves_out_what_is_disabled(world):
    world.skill(world.own, "b-skill", "Second.")
    world.skill(world.own, "a-skill", "First  of\n  all.")
    shelf = world.find()
    told = listing(shelf)
    assert told == listing(shelf)
    assert told.endswith("\n\n- a-skill: First of all.\n- b-skill: Second.")
    assert "a-skill" not in listing(shelf, {"a-skill"})
    assert listing(Shelf()) == ""
    many = Shelf(tuple(Skill(f"s{n}", "x" * 900, "/", "/") for n in range(150)))
    assert len(listing(many)) < MOST_LISTING + 600
    assert "more that are not listed here" in listing(many)


MENTIONS = [
    ("use $deploy now", ["deploy"]),
    ("$deploy, then $test. And $deploy", ["deploy", "test"]),
    ("costs $5 or $HOME or ${deploy} or \\$deploy or x$deploy or $deploy-all", []),
    ("$unknown", []),
    ("($test)", ["test"]),
    ("$disabled", []),
]


@pytest.mark.parametrize(("text", "names"), MENTIONS)
def test_a_person_names_skills_with_a_dollar(text, names):
    shelf = Shelf(tuple(Skill(name, "d", "/", "/") for name in ("deploy", "disabled", "test")))
    assert [skill.name for skill in mentioned(text, shelf, {"disabled"})] == names


def test_a_skill_is_read_with_the_names_of_its_files_and_nothing_outside_is(world):
    folder = world.skill(world.own, "deep", body="Run scripts/go.sh.")
    (folder / "scripts").mkdir()
    (folder / "scripts" / "go.sh").write_text("echo go\n")
    (folder / "leak").symlink_to("/etc/passwd")
    (skill,) = world.find().skills
    assert load(skill) == (
        '<skill name="deep">\nRun scripts/go.sh.\n\nFiles of this skill: leak, scripts/go.sh\n'
        "</skill>"
    )
    assert load(skill, "scripts/go.sh") == "echo go\n"
    for name in ("../other/SKILL.md", "/etc/passwd", "leak", "missing", "scripts", "a\0b"):
        with pytest.raises(UsageProblem):
            load(skill, name)


def test_skills_are_switched_off_and_on_in_the_store(world, tmp_path):
    world.skill(world.own, "one")
    world.skill(world.own, "two")
    shelf = world.find()
    store = SqliteStore(tmp_path / "data")
    switch(store, "one", on=False)
    assert disabled(store, shelf) == {"one"}
    switch(store, "one", on=True)
    assert disabled(store, shelf) == set()
    store.close()


# Installing


def archive(path: Path, *files: tuple[str | zipfile.ZipInfo, str]) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name, text in files:
            made.writestr(name, text)
    return path


TEXT = "---\nname: zipped\ndescription: From a zip.\n---\nBody\n"


def test_a_folder_is_copied_whole(world):
    source = world.skill(world.home / "download", "tool")
    script = source / "run.sh"
    script.write_text("echo hi\n")
    script.chmod(0o755)
    (source / "same.md").symlink_to("SKILL.md")
    (source / ".git").mkdir()
    (source / ".git" / "config").write_text("x")
    skill = install(str(source), world.environ)
    folder = world.own / "tool"
    assert skill == Skill("tool", "Does it.", str(folder), str(world.own))
    assert sorted(os.listdir(folder)) == ["SKILL.md", "run.sh", "same.md"]
    assert (folder / "run.sh").stat().st_mode & 0o111
    assert not (folder / "same.md").is_symlink()
    assert os.listdir(world.own) == ["tool"]  # nothing is left of the work


@pytest.mark.parametrize("top", ["", "zipped-main/"])
def test_a_zip_is_unpacked(world, tmp_path, top):
    path = archive(
        tmp_path / "x.zip",
        (f"{top}SKILL.md", TEXT),
        (f"{top}docs/a.md", "a"),
        ("__MACOSX/x", "y"),
    )
    assert install(str(path), world.environ).name == "zipped"
    assert (world.own / "zipped" / "docs" / "a.md").read_text() == "a"
    assert sorted(os.listdir(world.own / "zipped")) == ["SKILL.md", "docs"]


def link_entry() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("link")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


HOSTILE = [
    [("../evil", "x")],
    [("/etc/evil", "x")],
    [("a/../../evil", "x")],
    [("a\\..\\evil", "x")],
    [("C:/evil", "x")],
    [(link_entry(), "/etc/passwd")],
]


@pytest.mark.parametrize("files", HOSTILE)
def test_a_zip_that_leads_out_is_refused_and_nothing_is_left(world, tmp_path, files):
    path = archive(tmp_path / "x.zip", ("SKILL.md", TEXT), *files)
    with pytest.raises(UsageProblem, match="not installed because"):
        install(str(path), world.environ)
    assert os.listdir(world.own) == []
    assert not list(tmp_path.rglob("evil"))


def test_a_folder_with_a_link_out_of_it_is_refused(world):
    for number, target in enumerate(["/etc/passwd", "/etc", "../other"]):
        source = world.skill(world.home / str(number), "tool")
        (source / "link").symlink_to(target)
        with pytest.raises(UsageProblem):
            install(str(source), world.environ)
    assert os.listdir(world.own) == []


def test_too_much_is_refused(world, tmp_path, monkeypatch):
    monkeypatch.setattr(skill_install, "MOST_BYTES", 10_000)
    bomb = archive(tmp_path / "x.zip", ("SKILL.md", TEXT))
    with zipfile.ZipFile(bomb, "a", zipfile.ZIP_DEFLATED) as made:
        made.writestr("zeros", "0" * 1_000_000)
    with pytest.raises(UsageProblem, match="too large"):
        install(str(bomb), world.environ)
    monkeypatch.setattr(skill_install, "MOST_FILES", 2)
    source = world.skill(world.home / "many", "tool")
    for name in "abc":
        (source / name).write_text("x")
    with pytest.raises(UsageProblem, match="too large"):
        install(str(source), world.environ)
    assert os.listdir(world.own) == []


def test_a_skill_of_the_same_name_is_in_the_way_until_it_is_replaced(world):
    first = world.skill(world.home / "one", "tool", "first")
    second = world.skill(world.home / "two", "tool", "second")
    install(str(first), world.environ)
    with pytest.raises(UsageProblem, match="already"):
        install(str(second), world.environ)
    assert install(str(second), world.environ, replace=True).description == "second"
    assert [skill.description for skill in world.find().skills] == ["second"]
    assert os.listdir(world.own) == ["tool"]


def broken_zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archived:
        archived.writestr("SKILL.md", TEXT)
    data = bytearray(made.getvalue())
    data[40] ^= 0xFF
    return bytes(data)


@pytest.mark.parametrize(
    "content", [b"no zip", b"", broken_zip(), None], ids=["text", "empty", "broken", "missing"]
)
def test_what_is_no_skill_is_told_in_a_sentence(world, tmp_path, content):
    path = tmp_path / "thing.zip"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageProblem):
        install(str(path), world.environ)
    with pytest.raises(UsageProblem, match="no skill"):
        install(str(world.home), world.environ)
    with pytest.raises(UsageProblem, match="no skill"):
        install(str(archive(tmp_path / "e.zip", ("README.md", "x"))), world.environ)
    two = archive(tmp_path / "two.zip", ("a/SKILL.md", TEXT), ("b/SKILL.md", TEXT))
    with pytest.raises(UsageProblem, match="2 skills"):
        install(str(two), world.environ)
