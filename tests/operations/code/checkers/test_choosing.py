"""Which checkers run: by the marks of a project, by what is installed, one of each group."""

import os
from pathlib import Path

import pytest

from steersman.operations.code.checkers.table import Checker, chosen, known, marked

BY_NAME = {checker.name: checker for checker in known()}


def program(folder: Path, name: str) -> None:
    """Something that can be started."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "ws").mkdir()
    return Path(os.path.realpath(tmp_path)) / "ws"


def names(root: Path, *paths: str, installed: tuple[str, ...] = ()) -> list[str]:
    """The checkers for paths on a machine that has only these programs."""
    machine = root.parent / "bin"
    machine.mkdir(exist_ok=True)
    for name in installed:
        program(machine, name)
    wanted = tuple(str(root / path) for path in paths)
    has = {path: frozenset((os.path.splitext(path)[1],)) for path in wanted}
    plain = tuple(
        Checker(**{field: getattr(c, field) for field in c.__struct_fields__} | {"beside": False})
        for c in known()
    )
    return [
        job.checker.name for job in chosen(wanted, str(root), {"PATH": str(machine)}, has, plain)
    ]


@pytest.mark.parametrize(
    ("marks", "installed", "expected"),
    [
        ({}, ("ruff", "ty", "mypy", "pyright"), ["ruff", "ty"]),
        ({"mypy.ini": ""}, ("ruff", "ty", "mypy"), ["mypy", "ruff"]),
        ({"mypy.ini": ""}, ("ruff", "ty"), ["ruff", "ty"]),
        ({"pyproject.toml": "[tool.pyright]\n"}, ("ty", "pyright"), ["pyright"]),
        ({"pyproject.toml": "[tool.black]\n"}, ("ty", "pyright"), ["ty"]),
        ({"pyproject.toml": "[tool.mypy"}, ("ty", "mypy"), ["ty"]),
        ({"setup.cfg": "[mypy]\n"}, ("mypy",), ["mypy"]),
        ({".flake8": ""}, ("flake8", "ruff"), ["flake8"]),
        ({}, (), []),
    ],
)
def test_python_is_checked_by_what_the_project_asks_for(root, marks, installed, expected):
    for name, text in marks.items():
        (root / name).write_text(text)
    assert names(root, "a.py", installed=installed) == expected


@pytest.mark.parametrize(
    ("marks", "path", "installed", "expected"),
    [
        (["tsconfig.json"], "a.ts", ("tsc",), ["tsc"]),
        ([], "a.ts", ("tsc",), []),
        (["eslint.config.js"], "a.js", ("eslint", "node"), ["eslint"]),
        (["eslint.config.js"], "a.js", ("node",), ["node"]),
        ([], "a.js", ("eslint", "node"), ["node"]),
        (["Cargo.toml"], "src/a.rs", ("cargo",), ["cargo"]),
        ([], "a.rs", ("cargo",), []),
        (["go.mod"], "a.go", ("go",), ["go"]),
        ([], "a.sh", ("shellcheck", "bash"), ["shellcheck"]),
        ([], "a.sh", ("bash",), ["bash"]),
        ([], "a.php", ("php",), ["php"]),
        ([], "a.txt", ("ruff", "bash"), []),
    ],
)
def test_other_languages(root, marks, path, installed, expected):
    for name in marks:
        (root / name).touch()
    assert names(root, path, installed=installed) == expected


def test_paths_of_one_checker_are_checked_together(root):
    assert names(root, "a.py", "b.py", "c.sh", installed=("ruff", "bash")) == ["ruff", "bash"]


def test_a_project_is_the_outermost_marked_folder_of_the_workspace(root):
    for folder in (root.parent, root / "pkgs", root / "pkgs" / "a"):
        folder.mkdir(exist_ok=True)
        (folder / "Cargo.toml").touch()
    assert marked(BY_NAME["cargo"], str(root / "pkgs/a/src/b.rs"), str(root)) == str(root / "pkgs")
    assert marked(BY_NAME["cargo"], str(root / "other.rs"), str(root)) == ""


def test_a_program_of_the_project_is_marked_as_such(root):
    (root / "eslint.config.js").touch()
    program(root / "node_modules" / ".bin", "eslint")
    has = {str(root / "a.js"): frozenset({".js"})}
    (job,) = chosen((str(root / "a.js"),), str(root), {"PATH": "/nowhere"}, has)
    assert job.program.of_workspace
    assert job.program.argv[0] == str(root / "node_modules/.bin/eslint")


def test_a_path_into_the_workspace_makes_no_program_of_the_machine(root):
    program(root / "bin", "shellcheck")
    has = {str(root / "a.sh"): frozenset({".sh"})}
    assert chosen((str(root / "a.sh"),), str(root), {"PATH": str(root / "bin")}, has) == []
