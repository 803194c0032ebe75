"""Settings in layers: built in, then the file, then the environment, then flags."""

from pathlib import Path
from typing import Any

import pytest

from steersman.identity.persona import prompt_text, steersman
from steersman.identity.settings import config_file, data_folder, load_settings
from steersman.records.errors import UsageProblem
from steersman.records.settings import Settings


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment whose settings file is not there yet."""
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def written(environ: dict[str, str], text: str | bytes) -> Path:
    """The settings file with some text in it."""
    path = config_file(environ)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


LAYERS: list[tuple[str, dict[str, str], dict[str, Any], Settings]] = [
    ("", {}, {}, Settings()),
    ('model = "scripted:file"', {}, {}, Settings(model="scripted:file")),
    ('model = "file"', {"STEERSMAN_MODEL": "env"}, {}, Settings(model="env")),
    ('model = "file"', {"STEERSMAN_MODEL": "env"}, {"model": "flag"}, Settings(model="flag")),
    ('model = "file"', {"STEERSMAN_MODEL": ""}, {"model": None}, Settings(model="file")),
    ('mode = "ask"\ntrust = "restricted"', {"STEERSMAN_MODE": "code"}, {},
     Settings(trust="restricted")),
    ("max_steps = 7", {}, {}, Settings(max_steps=7)),
    ("", {"STEERSMAN_MAX_STEPS": "9"}, {}, Settings(max_steps=9)),
    ("max_steps = 7", {"STEERSMAN_MAX_STEPS": "9"}, {"max_steps": 11}, Settings(max_steps=11)),
    ("", {"STEERSMAN_APPROVALS": "never", "STEERSMAN_HOME": "/x", "OTHER": "y"}, {},
     Settings(approvals="never")),
]  # fmt: skip


@pytest.mark.parametrize(("file", "variables", "flags", "expected"), LAYERS)
def test_each_layer_is_stronger_than_the_one_before(environ, file, variables, flags, expected):
    if file:
        written(environ, file)
    assert load_settings(environ | variables, flags) == expected


PROFILES = """
max_steps = 7
[budget.thread]
cost = 20
[profiles.ci]
max_steps = 9
[profiles.ci.budget.run]
cost = 1.5
[profiles.careful]
approvals = "on-request"
mode = "plan"
"""


def test_a_profile_is_stronger_than_the_files_and_weaker_than_variables_and_flags(environ):
    written(environ, PROFILES)
    careful = load_settings(environ, {"profile": "careful"})
    assert (careful.profile, careful.mode, careful.max_steps) == ("careful", "plan", 7)
    assert load_settings(environ | {"STEERSMAN_PROFILE": "careful"}, {}).mode == "plan"
    assert load_settings(environ | {"STEERSMAN_MODE": "ask"}, {"profile": "careful"}).mode == "ask"
    assert load_settings(environ, {"profile": "careful", "mode": "ask"}).mode == "ask"
    assert load_settings(environ, {}).mode == "code"


def test_a_profile_of_your_own_adds_to_the_built_in_one_and_leaves_other_limits(environ):
    built_in = load_settings(environ, {"profile": "ci"})
    assert (built_in.approvals, built_in.guard) == ("never", "refuse")
    written(environ, PROFILES)
    own = load_settings(environ, {"profile": "ci"})
    assert (own.approvals, own.guard, own.max_steps) == ("never", "refuse", 9)
    assert (own.budget.run.cost, own.budget.thread.cost) == (1.5, 20)


@pytest.mark.parametrize(
    ("text", "named", "said"),
    [
        ("", "cii", "There is no profile “cii”. Did you mean “ci”?"),
        ("[profiles.x]\nstore = 'y'", "", "must not set “store”"),
        ("[profiles.x]\napprovals = 'nevr'", "", "Did you mean “never”?"),
        ("[profiles.x.budget.run]\nmoney = 3", "", "There is no setting “budget.run.money”"),
        ("profiles = 3", "", "profiles"),
    ],
)
def test_a_wrong_profile_is_told_in_plain_words(environ, text, named, said):
    written(environ, text)
    with pytest.raises(UsageProblem) as problem:
        load_settings(environ, {"profile": named})
    assert said in str(problem.value)


# The person's level (none: nobody chose), the folder's, and what holds where a person is there.
LEVELS = [
    ("", "", "review"),
    ("", "on-request", "on-request"),
    ("", "never", "review"),
    ("on-request", "review", "on-request"),
    ("never", "review", "review"),
    ("on-failure", "", "on-failure"),
]


@pytest.mark.parametrize(("own", "folders", "expected"), LEVELS)
def test_with_a_person_the_level_is_review_and_a_folder_only_asks_for_more(
    environ, tmp_path, own, folders, expected
):
    project = tmp_path / "project.toml"
    project.write_text(f'approvals = "{folders}"' if folders else "")
    if own:
        written(environ, f'approvals = "{own}"')
    assert load_settings(environ, {}, project, attended=True).approvals == expected
    assert load_settings(environ, {"approvals": "never"}, project).approvals == "never"
    alone = load_settings(environ, {}, project).approvals
    assert alone == ("on-request" if not own else expected)


WRONG: list[tuple[str, dict[str, str], dict[str, Any], list[str]]] = [
    ('mode = "dance"', {}, {}, ["config.toml", "dance"]),
    ('color = "red"', {}, {}, ["config.toml", "color"]),
    ("max_steps = 0", {}, {}, ["config.toml", "max_steps"]),
    ("max_steps = -1.5", {}, {}, ["config.toml", "max_steps"]),
    ("model = 7", {}, {}, ["config.toml", "model"]),
    ("", {"STEERSMAN_MODE": "dance"}, {}, ["STEERSMAN_MODE", "dance"]),
    ("", {"STEERSMAN_MAX_STEPS": "many"}, {}, ["STEERSMAN_MAX_STEPS"]),
    ("", {}, {"max_steps": 0}, ["--max-steps"]),
    ("", {}, {"approvals": "always"}, ["--approvals", "always"]),
    ('mode = "ask"', {"STEERSMAN_TRUST": "blind"}, {"mode": "code"}, ["STEERSMAN_TRUST", "blind"]),
]


@pytest.mark.parametrize(("file", "variables", "flags", "names"), WRONG)
def test_a_wrong_setting_is_refused_with_where_it_came_from(environ, file, variables, flags, names):
    if file:
        written(environ, file)
    with pytest.raises(UsageProblem) as refusal:
        load_settings(environ | variables, flags)
    assert all(name in str(refusal.value) for name in names)


@pytest.mark.parametrize("text", [b"model = ", b"= 1", b'model = "\xff"', b"[[", b"\0", b"a" * 99])
def test_a_file_that_is_no_toml_is_refused_by_its_name(environ, text):
    path = written(environ, text)
    with pytest.raises(UsageProblem) as refusal:
        load_settings(environ, {})
    assert str(path) in str(refusal.value)


def test_a_file_that_cannot_be_read_is_refused_by_its_name(environ):
    path = config_file(environ)
    path.mkdir(parents=True)
    with pytest.raises(UsageProblem) as refusal:
        load_settings(environ, {})
    assert str(path) in str(refusal.value)


def test_a_broken_file_is_told_even_when_flags_say_everything(environ):
    written(environ, "nonsense")
    with pytest.raises(UsageProblem):
        load_settings(environ, {"model": "flag"})


def test_state_and_settings_are_where_the_environment_says(tmp_path, monkeypatch):
    assert data_folder({"STEERSMAN_HOME": "/srv/state"}) == Path("/srv/state")
    assert data_folder({"XDG_DATA_HOME": "/srv/share"}) == Path("/srv/share/steersman")
    assert config_file({"XDG_CONFIG_HOME": "/srv/etc"}) == Path("/srv/etc/steersman/config.toml")
    monkeypatch.chdir(tmp_path)
    assert data_folder({"STEERSMAN_HOME": "here"}) == tmp_path / "here"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder({"STEERSMAN_HOME": "~/state"}) == tmp_path / "state"
    assert str(data_folder({})).startswith(str(tmp_path))
    assert str(config_file({})).startswith(str(tmp_path))


@pytest.mark.parametrize("mode", ["ask", "plan", "spec", "code", "debug"])
def test_an_agent_is_told_where_it_is_and_what_its_mode_is_the_same_every_time(mode):
    first, again = (steersman(mode, "/srv/app", ".steersman/plans/a.md") for _ in range(2))
    assert first.instructions() == again.instructions()
    assert "/srv/app" in first.instructions()
    assert "{workspace}" not in first.instructions()
    assert "{plan}" not in first.instructions()
    assert prompt_text(f"mode-{mode}").split("{plan}")[0] in first.instructions()
    assert (".steersman/plans/a.md" in first.instructions()) == (mode == "plan")
