"""`steer index`: what is known of a folder's code, built, asked, written down."""

import json
import subprocess

import pytest


@pytest.fixture
def built(steer, workspace):
    (workspace / "boats.py").write_text(
        "class Boat:\n    def sail(self, wind):\n        return wind * 2\n"
    )
    done = steer("index", "build")
    assert done.returncode == 0, done.stderr
    assert "Read 3 files; 0 files unchanged" in done.stdout
    return steer


def test_without_an_index_it_says_how_to_make_one(steer):
    done = steer("index")
    assert (done.returncode, done.stdout) == (
        0,
        "There is no index of this folder yet. `steer index build` makes one.\n",
    )


def test_the_state_is_a_table_or_json(built, home):
    rows = dict(line.split(maxsplit=1) for line in built("index").stdout.splitlines())
    assert (rows["files"], rows["definitions"]) == ("3", "4")
    assert rows["languages"] == "python 2, markdown 1"
    state = json.loads(built("index", "--json").stdout)
    assert state["languages"] == {"python": 2, "markdown": 1}
    assert state["path"].startswith(str(home))


def test_only_what_changed_is_read_again(built, workspace):
    (workspace / "boats.py").unlink()
    assert "Read 0 files; 2 files unchanged, 1 gone." in built("index", "build").stdout


def test_a_question_is_answered(built):
    done = built("index", "ask", "how does a boat sail in the wind?")
    assert done.returncode == 0, done.stderr
    assert "boats.py:1-3  in Boat, Boat/sail; full text: boat, sail, wind" in done.stdout
    assert "        return wind * 2" in done.stdout
    found = json.loads(built("index", "ask", "sail", "--json", "--budget", "300").stdout)
    assert found["excerpts"][0]["path"] == "boats.py"
    assert found["tokens"] <= 300
    assert built("index", "ask", "zebra").stdout == "Nothing matches that question.\n"


def test_agents_ask_the_same_index(built):
    question = json.dumps({"question": "how does a boat sail?"})
    done = built("call", "workspace_ranked_context", question)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["excerpts"][0]["path"] == "boats.py"


def test_secret_files_are_not_in_it(built, workspace):
    (workspace / "deploy.py").write_text("def zebra():\n    pass\n")
    (workspace / ".steersmanignore").write_text("deploy.py\n")
    assert built("index", "ask", "zebra").stdout == "Nothing matches that question.\n"


def test_the_index_is_written_down_but_not_over_others(built, workspace):
    done = built("index", "--write")
    assert done.returncode == 0, done.stderr
    assert json.loads((workspace / "PROJECT_INDEX.json").read_text())["version"] == 1
    assert "`boats.py`: `Boat`" in (workspace / "PROJECT_INDEX.md").read_text()
    assert built("index", "--write").returncode == 0
    (workspace / "PROJECT_INDEX.md").write_text("mine\n")
    done = built("index", "--write")
    assert done.returncode == 2
    assert "already exists" in done.stderr
    assert (workspace / "PROJECT_INDEX.md").read_text() == "mine\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "ask"),
        ("index", "ask", "x", "--budget", "1"),
        ("index", "--workspace", "nowhere"),
        ("index", "--json", "build"),
    ],
)
def test_what_makes_no_sense_is_refused(steer, arguments):
    assert steer(*arguments).returncode == 2


def test_a_repository_decides_what_is_ignored(built, workspace):
    (workspace / ".gitignore").write_text("made/\n")
    (workspace / "made").mkdir()
    (workspace / "made" / "zebra.py").write_text("def zebra():\n    pass\n")
    subprocess.run(["git", "add", "-A"], cwd=workspace, check=True)
    assert built("index", "ask", "zebra").stdout == "Nothing matches that question.\n"
