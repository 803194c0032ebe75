"""Which servers there are, for which files, where their programs are and where they start."""

import json
import os
import sys
from pathlib import Path

import pytest

from steersman.operations.code.lsp.programs import Installable, environment, located
from steersman.operations.code.lsp.servers import LanguageServer, configured, known, project
from steersman.operations.code.lsp.watching import Watch
from steersman.records.errors import UsageProblem

BY_NAME = {server.name: server for server in known()}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "ws").mkdir()
    return Path(os.path.realpath(tmp_path)) / "ws"


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("name", "path", "language"),
    [
        ("ty", "src/a.py", "python"),
        ("ty", "a.pyi", "python"),
        ("ty", "a.pyc", ""),
        ("typescript", "a.tsx", "typescriptreact"),
        ("typescript", "a.d.ts", "typescript"),
        ("typescript", "a.mjs", "javascript"),
        ("gopls", "go.mod", "go.mod"),
        ("gopls", "a.go", "go"),
        ("clangd", "a.h", "c"),
        ("clangd", "a.hpp", "cpp"),
    ],
)
def test_files_have_languages(name, path, language):
    assert BY_NAME[name].language(path) == language


def test_servers_that_run_code_of_a_project_are_marked():
    marked = {server.name for server in known() if server.runs_code}
    assert {"rust-analyzer", "typescript-language-server", "jdtls"} <= marked
    assert not marked & {"ty", "typescript", "gopls", "clangd"}


def test_a_person_adds_changes_and_disables_servers():
    servers = configured(
        {
            "mine": {"command": ["my-ls", "--stdio"], "languages": {"mylang": [".my"]}},
            "ty": {"patience": 5.0},
            "pyright": {"enabled": False},
        }
    )
    names = [server.name for server in servers]
    by_name = {server.name: server for server in servers}
    assert names[:2] == ["mine", "ty"]
    assert "pyright" not in names
    assert by_name["mine"].runs_code  # unless they say otherwise
    assert by_name["ty"].patience == 5.0
    assert by_name["ty"].command == ("ty", "server")
    assert configured({}) == known()


@pytest.mark.parametrize(
    "entry",
    [
        {"languages": {"x": [".x"]}},
        {"command": ["a"]},
        {"command": [], "languages": {"x": [".x"]}},
        {"command": "not a list", "languages": {}},
        {"command": ["a"], "languages": {}, "unknown": 1},
        {"command": ["a"], "languages": [".x"]},
    ],
)
def test_a_wrong_entry_is_refused(entry):
    with pytest.raises(UsageProblem, match="“mine” in the settings"):
        configured({"mine": entry})


def test_a_program_of_the_workspace_is_never_taken_from_the_path(root):
    program(root / "bin" / "gopls")
    inside = {"PATH": str(root / "bin")}
    assert located(BY_NAME["gopls"], str(root), inside) is None
    outside = program(root.parent / "bin" / "gopls")
    found = located(BY_NAME["gopls"], str(root), {"PATH": str(root.parent / "bin")})
    assert found is not None
    assert found.argv == (outside, "serve")
    assert not found.of_workspace


def test_a_server_of_our_extra_is_found_beside_our_interpreter(root):
    found = located(BY_NAME["ty"], str(root), {"PATH": "/nowhere"})
    assert found is not None
    assert found.argv == (os.path.join(os.path.dirname(sys.executable), "ty"), "server")


def npm_package(folder: Path, version: str) -> None:
    """The package of TypeScript as npm puts it there."""
    program(folder / "typescript" / "bin" / "tsc")
    told = json.dumps({"name": "typescript", "version": version})
    (folder / "typescript" / "package.json").write_text(told)
    (folder / ".bin").mkdir()
    (folder / ".bin" / "tsc").symlink_to("../typescript/bin/tsc")


@pytest.mark.parametrize(
    ("version", "there"), [("7.0.2", True), ("10.1", True), ("5.9.3", False), ("next", False)]
)
@pytest.mark.parametrize("place", ["machine", "project"])
def test_typescript_serves_from_version_seven(root, version, there, place):
    folder = root if place == "project" else root.parent / "machine"
    npm_package(folder / "node_modules", version)
    environ = {"PATH": str(root.parent / "machine/node_modules/.bin")}
    found = located(BY_NAME["typescript"], str(root), environ)
    assert (found is not None) == there
    if found is not None:
        assert found.of_workspace == (place == "project")
        assert found.argv[1:] == ("--lsp", "--stdio")


def test_a_program_that_a_person_named_by_its_path(root):
    inside = LanguageServer("x", (program(root / "x"),), languages={})
    outside = LanguageServer("y", (program(root.parent / "y"),), languages={})
    missing = LanguageServer("z", (str(root / "z"),), languages={})
    found = [located(server, str(root), {"PATH": ""}) for server in (inside, outside, missing)]
    assert [one and one.of_workspace for one in found] == [True, False, None]


def test_keys_and_tokens_are_not_handed_on():
    given = {"PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "API_KEY": "s", "GITHUB_TOKEN": "s"}
    own = Installable("x", ("x",), environ={"GOPROXY": "off"}, inside={"GOCACHE": "/tmp/go"})
    plain = {"PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "GOPROXY": "off"}
    assert environment(own, given, confined=False) == plain
    assert environment(own, given, confined=True) == {**plain, "GOCACHE": "/tmp/go"}


def test_a_server_starts_in_the_outermost_project_around_a_file(root):
    for folder in ("pkgs/a", "pkgs/b", "other"):
        (root / folder).mkdir(parents=True)
    (root / "pkgs" / "Cargo.toml").touch()
    (root / "pkgs" / "a" / "Cargo.toml").touch()
    rust = BY_NAME["rust-analyzer"]
    found = [project(rust, str(root / path), str(root)) for path in ("pkgs/a/x.rs", "other/y.rs")]
    assert found == [str(root / "pkgs"), str(root)]
    (root / "Cargo.toml").touch()
    assert project(rust, str(root / "pkgs/a/x.rs"), str(root)) == str(root)


def test_marks_may_be_patterns(root):
    (root / "sub").mkdir()
    (root / "sub" / "Harbour.csproj").touch()
    assert project(BY_NAME["csharp-ls"], str(root / "sub/a.cs"), str(root)) == str(root / "sub")


def test_a_watch_tells_what_came_changed_and_went(root):
    (root / "node_modules").mkdir()
    (root / "a.py").write_text("1")
    (root / "b.py").write_text("1")
    watch = Watch(BY_NAME["ty"], str(root))
    watch.look()
    assert watch.changes() == []
    (root / "a.py").write_text("22")
    (root / "b.py").unlink()
    (root / "c.py").write_text("1")
    (root / "pyproject.toml").write_text("")
    (root / "notes.txt").write_text("nobody's business")
    (root / "node_modules" / "d.py").write_text("left out")
    told = {os.path.basename(path): kind for path, kind in watch.changes()}
    assert told == {"a.py": 2, "b.py": 3, "c.py": 1, "pyproject.toml": 1}
    assert watch.changes() == []
