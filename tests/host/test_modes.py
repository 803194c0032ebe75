"""Modes are gates: what plan, spec, ask and debug let happen, whatever the model tries."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.world import Steer, call

PATCH = """*** Begin Patch
*** Update File: calc.py
@@
-    return a - b
+    return a + b
*** End Patch
"""
UNIFIED = """--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""
DELETION = "*** Begin Patch\n*** Delete File: README.md\n*** End Patch\n"
MEND = {"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}


def run(command, **more):
    return call("workspace_run_command", command=command, **more)


# Twenty and more ways to change a file, a folder or a repository.
WAYS = [
    call("workspace_write_file", path="new.txt", content="x"),
    call("workspace_write_file", path="calc.py", content="x"),
    call("workspace_write_file", path=".steersman/plans/other.md", content="x"),
    call("workspace_write_file", path=".steersman/plans/../../escaped.md", content="x"),
    call("workspace_edit_files", files=[MEND]),
    call("workspace_apply_patch", patch=DELETION),
    call("workspace_apply_patch", patch=PATCH),
    call("workspace_apply_patch", patch=UNIFIED),
    run("echo x > new.txt"),
    run("echo x >> calc.py"),
    run("sed -i s/-/+/ calc.py"),
    run("rm README.md"),
    run("mv README.md READ.md"),
    run("mkdir folder && touch folder/x"),
    run("ln -s calc.py link"),
    run("chmod 777 calc.py"),
    run("python3 -c \"open('calc.py','w').write('x')\""),
    run("tee calc.py < README.md"),
    run("truncate -s 0 calc.py"),
    run("cp README.md calc.py"),
    run("git add -A && git -c user.name=n -c user.email=e@x.org commit -m x"),
    run("git init sub"),
    run("printf '%s' '" + UNIFIED.replace("\n", "\\n") + "' | patch -p1"),
    run("git config core.hooksPath /tmp/x"),
    run("perl -i -pe s/a/b/ calc.py"),
    run("bash -c 'cd /; cd \"$OLDPWD\"; echo x > sneaky'"),
    run("sleep 0 & echo x > bg.txt; wait", background=True),
    run("echo x > outside.txt", outside_sandbox=True),
    call("mcp_call_tool", server="files", tool="write", arguments={"path": "calc.py"}),
    call("files__write", path="calc.py", content="x"),
]  # fmt: skip


def state(folder: Path) -> dict[str, str]:
    """Everything in a folder: names, kinds, modes and contents."""
    found = {}
    for top, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(top, name)
            mode = oct(path.lstat().st_mode)
            data = (
                os.readlink(path)
                if path.is_symlink()
                else path.read_bytes()
                if path.is_file()
                else ""
            )
            raw = data.encode() if isinstance(data, str) else data
            found[str(path.relative_to(folder))] = f"{mode} {hashlib.sha256(raw).hexdigest()}"
    return found


@pytest.mark.parametrize(
    "how",
    [["--approvals", "never"], ["--yes"], ["--yes", "--trust", "untrusted"]],
    ids=["alone", "yes", "trusted"],
)
def test_plan_mode_changes_nothing_but_its_plan(steer, workspace, script, how):
    before = state(workspace)
    turns = [{"tool_calls": [way]} for way in WAYS]
    model = script(*turns, {"text": "Planned."})
    done = steer("run", "Mend add.", "--mode", "plan", "--model", model, "--json", *how)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    results = [m["body"] for m in messages if m["kind"] == "tool_result"]
    assert len(results) == len(WAYS), done.stderr
    assert state(workspace) == before
    assert not (workspace.parent / "escaped.md").exists()


@pytest.mark.parametrize("inside", [False, True], ids=["beside", "in the workspace"])
def test_plan_mode_leaves_nothing_in_caches(environ, workspace, script, tmp_path, inside):
    """What a command fetches or makes while planning is not there for the next one."""
    caches = workspace / "caches" if inside else tmp_path / "caches"
    here = Steer({**environ, "XDG_CACHE_HOME": str(caches)}, workspace)
    before = state(workspace)
    poison = run('mkdir -p "$XDG_CACHE_HOME/pip"; echo x > "$XDG_CACHE_HOME/pip/x" && echo kept')
    model = script({"tool_calls": [poison]}, {"text": "Planned."})
    done = here("run", "go", "--mode", "plan", "--model", model, "--approvals", "never")
    assert "kept" in done.stdout, "a command has caches, for as long as it runs"
    assert not caches.exists()
    assert state(workspace) == before


def test_plan_mode_looks_by_commands_and_writes_its_plan(steer, workspace, script):
    start = steer.messages("run", "x", "--model", script({"text": "hello"}, name="first.json"))
    thread = start[0]["thread"]
    plan = f".steersman/plans/{thread}.md"
    model = script(
        {"text": "hello"},
        {"tool_calls": [run("cat calc.py; git status --short; touch x; echo $?")]},
        {"tool_calls": [call("workspace_write_file", path=plan, content="# Plan\n1. Mend add.\n")]},
        {"text": "Planned."},
    )
    done = steer("resume", thread, "plan it", "--mode", "plan", "--model", model, "--json")
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    results = [m["body"] for m in messages if m["kind"] == "tool_result"]
    assert "return a - b" in results[0]["output"]["output"]
    assert "Read-only file system" in results[0]["output"]["output"]
    assert results[1]["status"] == "ok"
    assert (workspace / plan).read_text() == "# Plan\n1. Mend add.\n"
    assert not (workspace / "x").exists()


def test_spec_mode_writes_specifications_and_nothing_else(steer, workspace, script):
    model = script(
        {"tool_calls": [
            call("workspace_write_file", path="docs/specs/sums/design.md", content="# Design\n"),
            call("workspace_write_file", path="docs/specs/sums/evil.sh", content="x"),
            call("workspace_write_file", path="docs/specs/design.md", content="x"),
            call("workspace_write_file", path="calc.py", content="x"),
            run("ls"),
        ]},
        {"text": "Written."},
    )  # fmt: skip
    messages = steer.messages(
        "run", "x", "--mode", "spec", "--approvals", "never", "--model", model
    )
    statuses = [m["body"]["status"] for m in messages if m["kind"] == "tool_result"]
    assert statuses == ["ok", "denied", "denied", "denied", "denied"]
    assert (workspace / "docs/specs/sums/design.md").exists()


def test_debug_mode_asks_about_every_patch_and_lets_commands_look(steer, workspace, script):
    renamed = {"path": "README.md", "edits": [{"search": "Calc", "replace": "Sums"}]}
    edit = call("workspace_edit_files", files=[renamed])
    model = script(
        {"tool_calls": [run("python3 -c 'import calc; print(calc.add(1, 2))'")]},
        {"tool_calls": [run("sed -i s/-/+/ calc.py")]},
        {"tool_calls": [edit]},
        {"text": "Proposed."},
    )
    never = steer.messages("run", "x", "--mode", "debug", "--approvals", "never", "--model", model)
    results = [m["body"] for m in never if m["kind"] == "tool_result"]
    assert [result["status"] for result in results] == ["ok", "denied", "denied"]
    assert "a - b" in (workspace / "calc.py").read_text()
    assert "Calc" in (workspace / "README.md").read_text()
    yes = steer.messages("run", "x", "--mode", "debug", "--yes", "--model", model)
    asked = [m["body"]["reason"] for m in yes if m["kind"] == "confirm_request"]
    assert len(asked) == 2
    assert all("in debug mode" in reason for reason in asked)


@pytest.mark.parametrize("mode", ["ask", "spec"])
def test_a_model_that_names_a_wrong_tool_hears_only_of_those_it_is_offered(steer, script, mode):
    model = script({"tool_calls": [call("workspace_fly")]}, {"text": "Done."})
    messages = steer.messages("run", "--mode", mode, "--model", model, "go")
    (told,) = (m["body"]["message"] for m in messages if m["kind"] == "tool_result")
    assert "workspace_read_file" in told
    assert "workspace_run_command" not in told
