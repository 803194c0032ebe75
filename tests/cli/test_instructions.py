"""What a model is told besides the conversation: instruction files and skills, as they are sent."""

import json
from pathlib import Path

import pytest

from tests.cli.kit import READ
from tests.host.wires import RecordingStage, reaching
from tests.world import call

MODEL = ("--model", "anthropic:m-1")
DEEP = call("workspace_read_file", path="src/deep/a.py")
ALSO = call("workspace_read_file", path="src/deep/b.py")


@pytest.fixture(scope="module")
def stage():
    """A model server."""
    stage = RecordingStage()
    yield stage
    stage.close()


@pytest.fixture
def online(steer, stage):
    """The command line where every provider is the model server."""
    return steer.having(**reaching({}, stage.url))


@pytest.fixture
def config(environ):
    """The person's own folder of settings."""
    return Path(environ["XDG_CONFIG_HOME"], "steersman")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def skill(folder, name, text="First look, then leap."):
    write(folder / name / "SKILL.md", f"---\nname: {name}\ndescription: {name}s well.\n---\n{text}")
    return folder / name


def asking(name, **more):
    """The model's wish for a skill."""
    return {"name": "read_skill", "arguments": {"name": name, **more}}


def system(stage):
    """The system prompt of the last request."""
    return stage.log[-1]["body"]["system"][0]["text"]


def said(stage, number=-1):
    """The conversation of a request, as text."""
    return json.dumps(stage.log[number]["body"]["messages"], ensure_ascii=False)


def tools(stage):
    return {tool["name"] for tool in stage.log[-1]["body"]["tools"]}


def test_the_files_of_the_root_are_in_the_system_prompt(online, stage, workspace, config):
    write(config / "AGENTS.md", "Mine: be brief.")
    write(workspace / "AGENTS.md", "The folder's: say it plainly.")
    write(workspace / "CLAUDE.md", "Also see @docs/style.md for more.")
    write(workspace / "docs" / "style.md", "No adverbs.")
    stage.play({"text": "Done."})
    assert online("run", *MODEL, "go").returncode == 0

    told = system(stage)
    places = [told.index(text) for text in ("be brief", "say it plainly", "Also see", "No adverbs")]
    assert places == sorted(places), "from the general to the near"
    assert '<instructions file="AGENTS.md">' in told
    assert "be brief" not in said(stage)


def test_nested_files_come_with_the_first_result_below_them(online, stage, workspace):
    write(workspace / "AGENTS.md", "Root rule.")
    write(workspace / "src" / "AGENTS.md", "Tabs in src.")
    write(workspace / "src" / "deep" / "CLAUDE.md", "Never here.")
    write(workspace / "src" / "deep" / "a.py", "a = 1\n")
    write(workspace / "src" / "deep" / "b.py", "b = 1\n")
    stage.play(
        {"tool_calls": [READ]}, {"tool_calls": [DEEP]}, {"tool_calls": [ALSO]}, {"text": "."}
    )
    worked = online.work("run", *MODEL, "go")
    assert worked.code == 0

    assert "Tabs in src." not in said(stage, 1)
    assert "Tabs in src." in said(stage, 2)
    assert said(stage, 3).count("Tabs in src.") == said(stage, 3).count("Never here.") == 1
    assert "Tabs in src." not in system(stage)
    notes = [result.get("note", "") for result in worked.bodies("tool_result")]
    assert ["Tabs in src." in note for note in notes] == [False, True, False]


def test_an_instruction_file_that_leads_out_or_is_secret_is_not_told(
    online,
    stage,
    workspace,
    tmp_path,
):
    write(tmp_path / "elsewhere.md", "From outside.")
    (workspace / "AGENTS.md").symlink_to(tmp_path / "elsewhere.md")
    write(workspace / ".steersmanignore", "CLAUDE.md\n")
    write(workspace / "CLAUDE.md", "A secret.")
    stage.play({"text": "Done."})
    assert online("run", *MODEL, "go").returncode == 0
    assert "From outside." not in system(stage)
    assert "A secret." not in system(stage)


def test_a_skill_that_the_person_names(online, stage, config):
    skill(config / "skills", "leap")
    stage.play({"text": "Done."})
    worked = online.work("run", *MODEL, "please $leap, it costs $5")
    assert worked.code == 0

    assert "leap" in system(stage)
    assert "leaps well." in system(stage)
    assert "First look" not in system(stage)
    assert "First look, then leap." in said(stage)
    [user] = worked.bodies("user")
    assert (user["text"], len(user["attached"])) == ("please $leap, it costs $5", 1)


def test_a_skill_that_the_model_asks_for(online, stage, config):
    skill(config / "skills", "leap")
    write(config / "skills" / "leap" / "more.md", "The long version.")
    stage.play(
        {"tool_calls": [asking("leap")]},
        {"expect": "First look", "tool_calls": [asking("leap", file="more.md")]},
        {"expect": "The long version.", "tool_calls": [asking("hop")]},
        {"expect": "There is no skill “hop”.", "text": "Done."},
    )
    worked = online.work("run", *MODEL, "go")
    assert (worked.code, stage.complaints) == (0, [])
    assert [result["status"] for result in worked.bodies("tool_result")] == ["ok", "ok", "error"]


def test_without_skills_there_is_nothing_to_ask_for(online, stage):
    stage.play({"text": "Done."})
    assert online("run", *MODEL, "what does $leap mean?").returncode == 0
    assert "read_skill" not in tools(stage)


def test_a_disabled_skill_is_neither_told_nor_loaded(online, stage, config):
    skill(config / "skills", "leap")
    skill(config / "skills", "hop", "Hop along.")
    assert online("skills", "disable", "leap").returncode == 0
    asks = asking("leap")
    stage.play({"tool_calls": [asks]}, {"text": "Done."})
    worked = online.work("run", *MODEL, "$leap and $hop")
    assert "leaps well." not in system(stage)
    assert "Hop along." in said(stage)
    assert "First look" not in said(stage)
    assert worked.bodies("tool_result")[0]["status"] == "error"


def test_skills_of_a_folder_wait_until_it_is_trusted(online, stage, workspace):
    skill(workspace / ".steersman" / "skills", "local")
    stage.play({"text": "Done."})
    assert online("run", *MODEL, "$local").returncode == 0
    assert "locals well." not in system(stage)
    assert "First look" not in said(stage)


def test_the_places_that_variables_name(online, stage, workspace, tmp_path, environ):
    home = Path(environ["HOME"])
    write(home / "rules" / "team.md", "Rule one.")
    write(home / "rules" / "other.md", "Rule two.")
    write(workspace / "team.md", "The team's rule.")
    write(workspace / "AGENTS.md", "The project's rule.")
    folder = skill(tmp_path / "shelf", "leap")
    (folder / "SKILL.md").rename(folder / "HOWTO.md")
    away = online.having(
        STEERSMAN_INSTRUCTIONS_DIRS=f"~/rules, {home}/rules, /nowhere/at/all",
        STEERSMAN_INSTRUCTIONS_FILE="team.md",
        STEERSMAN_SKILLS_DIRS=str(tmp_path / "shelf"),
        STEERSMAN_SKILL_META_FILE="HOWTO.md",
    )
    stage.play({"text": "Done."})
    assert away("run", *MODEL, "go").returncode == 0

    told = system(stage)
    for text in ("Rule one.", "The team's rule.", "The project's rule.", "leaps well."):
        assert told.count(text) == 1, text
    assert "Rule two." not in told


def test_a_resumed_thread_finds_its_skills_by_the_name_it_began_with(online, stage, config):
    folder = skill(config / "skills", "leap")
    (folder / "SKILL.md").rename(folder / "HOWTO.md")
    stage.play({"text": "Done."})
    begun = online.having(STEERSMAN_SKILL_META_FILE="HOWTO.md").work("run", *MODEL, "go")
    stage.play({"text": "Done."})
    assert online("resume", begun.thread, "go on").returncode == 0
    assert "leaps well." in system(stage)
