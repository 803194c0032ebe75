"""`steer skills`: list, show, install, enable, disable."""

import json
import zipfile

import pytest

TEXT = "---\nname: {name}\ndescription: {what}\n---\nFirst look, then leap.\n"


def skill(folder, name, what="Leaps well."):
    folder = folder / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(TEXT.format(name=name, what=what))
    return folder


def listed(steer):
    done = steer("skills", "list", "--json")
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for one in map(json.loads, done.stdout.splitlines())}


def test_a_skill_is_installed_listed_shown_disabled_and_enabled(steer, tmp_path):
    assert "No skills." in steer("skills", "list").stdout
    source = skill(tmp_path / "download", "leap")

    done = steer("skills", "install", str(source))
    assert done.returncode == 0, done.stderr
    assert "Installed leap in" in done.stdout

    assert listed(steer)["leap"]["enabled"] is True
    shown = steer("skills", "show", "leap")
    assert "Leaps well." in shown.stdout
    assert "First look, then leap." in shown.stdout

    assert steer("skills", "disable", "leap").returncode == 0
    assert listed(steer)["leap"]["enabled"] is False
    assert "leap (disabled)" in steer("skills", "list").stdout
    assert steer("skills", "enable", "leap").returncode == 0
    assert listed(steer)["leap"]["enabled"] is True


def test_a_zip_is_installed_and_replaced_only_when_asked_to(steer, tmp_path):
    path = tmp_path / "leap.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("leap/SKILL.md", TEXT.format(name="leap", what="Zipped."))
    assert steer("skills", "install", str(path)).returncode == 0
    again = steer("skills", "install", str(path))
    assert again.returncode == 2
    assert "already" in again.stderr
    assert "--replace" in again.stderr
    assert steer("skills", "install", "--replace", str(path)).returncode == 0


def test_skills_of_a_folder_are_used_once_it_is_trusted(steer, workspace):
    skill(workspace / ".claude" / "skills", "local")
    done = steer("skills", "list")
    assert "local" not in done.stdout.partition("!")[0]
    assert "not trusted" in done.stdout
    assert steer("skills", "show", "local").returncode == 2

    assert steer("policy", "trust", "--yes").returncode == 0
    assert listed(steer)["local"]["description"] == "Leaps well."


def test_what_is_wrong_with_a_skill_is_told(steer, environ, tmp_path):
    odd = skill(tmp_path / "skills", "odd")
    (odd / "SKILL.md").write_text("---\nname: Not A Name\ndescription: x\n---\n")
    environ["STEERSMAN_SKILLS_DIRS"] = str(tmp_path / "skills")
    assert "no valid name" in steer("skills", "list").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "nothing"], "There is no skill “nothing”."),
        (["disable", "nothing"], "There is no skill “nothing”."),
        (["install", "/nowhere/at/all"], "does not exist"),
        (["install", "calc.py"], "neither a folder nor a .zip"),
        (["install", "."], "There is no skill in"),
    ],
)
def test_mistakes_are_sentences(steer, arguments, words):
    done = steer("skills", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
