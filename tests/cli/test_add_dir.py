"""`--add-dir`: one more folder that is read, with its secrets hidden, and never written."""

import json
from pathlib import Path

import pytest

from tests.operations.finding.kit import ENGINES, environ_of, plant
from tests.world import call

WORD = "rosebud-in-the-attic"  # looks like nothing that a redactor would know


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder beside the workspace."""
    folder = tmp_path / "library"
    plant(
        folder,
        {
            "lib.py": f"# {WORD}\n",
            ".env": f"{WORD}\n",
            "notes/diary.txt": f"{WORD}\n",
            "build/made.py": f"{WORD}\n",
            ".gitignore": "build/\n",
            ".steersmanignore": "/notes/diary.txt\n",
        },
    )
    return folder


def called(steer, tool, *flags, **arguments):
    done = steer("call", tool, json.dumps(arguments), *flags)
    return json.loads(done.stdout) if done.stdout else done.stderr


def test_a_folder_that_was_added_is_read(steer, library):
    added = ("--add-dir", "../library")
    path = str(library / "lib.py")
    assert "is outside the workspace" in called(steer, "workspace_read_file", path=path)
    assert WORD in called(steer, "workspace_read_file", *added, path=path)["content"]
    assert "lib.py" in str(called(steer, "workspace_list_files", *added, path=str(library)))
    beside = called(steer, "workspace_list_files", *added, path=str(library.parent))
    assert "is outside the workspace" in beside


@pytest.mark.parametrize("engine", ENGINES)
def test_a_search_there_leaves_out_what_is_ignored_and_what_is_secret(
    steer, environ, library, engine
):
    environ["PATH"] = environ_of(engine)["PATH"]
    found = called(
        steer, "workspace_search_files", "--add-dir", str(library), query=WORD, path=str(library)
    )
    assert [hit["file"] for hit in found["results"]] == ["../library/lib.py"]


@pytest.mark.parametrize("name", [".env", "notes/diary.txt"])
def test_a_secret_there_is_read_by_no_tool_and_no_command(steer, library, name):
    added = ("--add-dir", str(library))
    path = str(library / name)
    assert "contains secrets" in called(steer, "workspace_read_file", *added, path=path)
    command = f"cd {library}; for name in lib.py .e* notes/*; do cat $name; done"
    out = called(steer, "workspace_run_command", *added, command=command)
    assert str(out).count(WORD) == 1


def test_nothing_is_written_there(steer, library):
    added = ("--add-dir", str(library), "--yes")
    path = str(library / "new.py")
    told = called(steer, "workspace_write_file", *added, path=path, content="x")
    assert "was added for reading only" in told
    assert "Rule: paths.readable." in told
    called(steer, "workspace_run_command", *added, command=f"echo x > {path}")
    assert not (library / "new.py").exists()


def test_the_model_and_the_log_know_what_was_added(steer, script, library):
    read = call("workspace_read_file", path=str(library / "lib.py"))
    model = script({"tool_calls": [read]}, {"expect": WORD, "text": "Read."})
    done = steer("run", "read it", "--model", model, "--add-dir", str(library), "--json")
    assert done.returncode == 0, done.stderr
    [start] = [one for one in map(json.loads, done.stdout.splitlines())
               if one["kind"] == "session_start"]  # fmt: skip
    assert start["body"]["add_dir"] == [str(library)]


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("../nowhere", "It does not exist."),
        ("calc.py", "It is not a folder."),
        ("../home/.ssh", "It is private."),
        ("../home", "which is private."),
        ("/", "which is private."),
    ],
)
def test_what_cannot_be_added_is_said_before_anything_begins(steer, environ, script, named, why):
    Path(environ["HOME"], ".ssh").mkdir()
    done = steer("run", "hi", "--model", script({"text": "Hi."}), "--add-dir", named)
    assert done.returncode == 2
    assert "cannot be added" in done.stderr
    assert why in done.stderr
    assert steer("list").stdout.count("hi") == 0


def test_a_folder_of_the_workspace_needs_no_adding(steer, workspace, script):
    done = steer("run", "hi", "--model", script({"text": "Hi."}), "--add-dir", ".", "--json")
    assert '"add_dir"' not in done.stdout


def test_the_settings_name_folders_too(steer, environ, library):
    own = Path(environ["XDG_CONFIG_HOME"], "steersman", "config.toml")
    plant(own.parent, {"config.toml": f'add_dir = ["{library}"]\n'})
    assert "content" in called(steer, "workspace_read_file", path=str(library / "lib.py"))


def test_a_folder_does_not_add_others_to_itself(steer, workspace, library):
    plant(workspace, {".steersman/config.toml": f'add_dir = ["{library}"]\n'})
    steer("policy", "trust", "--yes")
    done = steer("call", "workspace_status")
    assert "must not set “add_dir”" in done.stderr
