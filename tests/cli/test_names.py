"""Names of files that would move the cursor, turn the direction of reading, or forge a line."""

import re

import pytest

from tests.cli.kit import DONE
from tests.world import Steer, call

ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
NAMES = ["esc\x1b[2J\x1b]0;owned\x07.py", "bidi\u202egnp.py", "line\n✓ done · forged.py"]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def here(environ, tmp_path):
    place = tmp_path / "odd"
    place.mkdir()
    for name in NAMES:
        (place / name).write_text("def harbour(): pass\n")
        (place / f"folder {name}").mkdir()
        (place / f"folder {name}" / "AGENTS.md").write_text("x\n")
        (place / f"folder {name}" / ".env").write_text("x\n")
    return Steer(environ, place)


def shown(done):
    return COLOUR.sub("", done.stdout + done.stderr)


def check(done):
    text = shown(done)
    assert not ODD.search(text), ODD.search(text)
    assert not any(line.startswith("✓ done · forged") for line in text.splitlines()), text


def test_no_name_of_a_file_reaches_the_terminal_as_it_is(here, script):
    touch = 'for f in *.py; do echo x >> "$f"; cp "$f" "new $f"; done; ls'
    calls = [
        call("workspace_list_files"),
        call("workspace_search_files", query="harbour"),
        call("workspace_run_command", command=touch),
        *(call("workspace_read_file", path=name) for name in NAMES),
        *(call("workspace_read_file", path=f"missing {name}") for name in NAMES),
        *(call("workspace_write_file", path=f"own {name}", content="x\n") for name in NAMES),
        *(call("workspace_write_file", path=f"folder {name}/.env", content="x") for name in NAMES),
        *(call("workspace_get_symbols_overview", path=name) for name in NAMES),
    ]
    model = script({"tool_calls": calls}, DONE)
    ran = here("run", "--model", model, "--approvals", "never", "go")
    check(ran)
    id = here.messages("run", "--model", model, "--approvals", "never", "again")[0]["thread"]
    for line in (
        ["threads", "list"],
        ["threads", "show", id],
        ["ledger", "show", id],
        ["replay", "--plain", id],
        ["replay", id],
        ["ledger", "export", id],
        ["ledger", "show", "--json", id],
        ["index", "build"],
        ["index", "status"],
        ["doctor"],
        ["policy", "check"],
        ["undo", "--turn", "1", id],
        ["undo", "--yes", id],
        ["redo", "--yes", id],
        *(["policy", "explain", "write", name] for name in NAMES[:2]),
        *(["run", "--image", name, "x"] for name in NAMES),
        *(["threads", "show", name] for name in NAMES),
        *(["skills", "install", name] for name in NAMES),
        *(["threads", "import", name] for name in NAMES),
        *(["run", "--model", f"scripted:{name}", "x"] for name in NAMES),
    ):
        check(here(*line))
    for name in NAMES:
        (here.folder / name).write_text("theirs\n")
    check(here("undo", "--yes", id))


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_with_such_a_name_is_shown_escaped(environ, tmp_path, script, name):
    place = tmp_path / name
    place.mkdir()
    here = Steer(environ, place)
    check(here("run", "--model", script(DONE), "go"))
    for line in (["threads", "list"], ["doctor"], ["policy", "trust"], ["resume"], ["undo"],
                 ["index", "status"], ["mcp", "list"],
                 ["threads", "list", "-w", str(place)]):  # fmt: skip
        check(here(*line))
