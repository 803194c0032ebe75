"""Who writes where a link at a protected name leads, writes what other programs follow."""

import os
from pathlib import Path

import pytest

from steersman.records import protected_links
from steersman.records.git_places import GitPlaces


@pytest.fixture(params=["few", "many"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with few other files in it, or with more than are looked through."""
    (tmp_path / "build").mkdir()
    others = 1 if request.param == "few" else protected_links.MOST_ENTRIES + 1
    for number in range(others):
        (tmp_path / f"other-{number}").touch()
    return tmp_path


def leads(project: Path, name: str) -> bool:
    """Whether a link of that name protects the file that it leads to."""
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).symlink_to(os.path.relpath(project / "build" / "x", (project / name).parent))
    return GitPlaces(str(project)).behind_link(str(project / "build" / "x"))


@pytest.mark.parametrize(
    "name", [".bashrc", "lefthook.yml", ".github/workflows", ".vscode", ".husky/_/pre-commit"]
)
def test_what_a_link_at_a_protected_name_leads_to_is_protected(project: Path, name: str) -> None:
    assert leads(project, name)


@pytest.mark.parametrize("name", ["bashrc", "x.lefthook.yml", "src/notes", ".githubs/workflows"])
def test_other_links_protect_nothing(project: Path, name: str) -> None:
    assert not leads(project, name)


def test_a_name_is_protected_as_its_program_writes_it(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    assert leads(tmp_path, "Jenkinsfile")
