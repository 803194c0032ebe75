"""Files that hold secrets: no tool and no command reads them, copies them or loses them.

Which files those are, their usual names say and `.steersmanignore` of the folder. What git's
history holds cannot be hidden any more; `steer doctor` warns of it.
"""

import json
import os
import subprocess

import pytest

from steersman.operations.finding import program
from tests.cli.kit import decoded, outside, shell
from tests.operations.finding.kit import ENGINES, environ_of, plant
from tests.operations.workshop import Workshop
from tests.world import call

WORD = "rosebud-in-the-attic"  # looks like nothing that a redactor would know
HIDDEN = {
    ".env": f"{WORD}\n",
    ".env.production": f"{WORD}\n",
    "deploy/server.pem": f"{WORD}\n",
    "notes/diary.txt": f"{WORD}\n",
    "vault/deep/plan.md": f"{WORD}\n",
}
OPEN = {
    ".steersmanignore": "diary.txt\nvault/\n!.env.public\n",
    ".env.public": "PORT=80\n",
    ".env.example": "WORD=rosebud-of-yours\n",
    "notes/list.txt": "rosebud is a sledge\n",
}


@pytest.fixture
def workspace(workspace):
    """A repository with secrets in it; one of them has another name already, by a link."""
    plant(workspace, {**HIDDEN, **OPEN})
    (workspace / "settings").symlink_to(".env")
    return workspace


def edit(path, search, replace):
    return call(
        "workspace_edit_files",
        files=[{"path": path, "edits": [{"search": search, "replace": replace}]}],
    )


def deleting(path):
    patch = f"*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n"
    return call("workspace_apply_patch", patch=patch)


BY_TOOLS = {
    "read the usual name": call("workspace_read_file", path=".env"),
    "read a usual ending": call("workspace_read_file", path="deploy/server.pem"),
    "read what the folder names": call("workspace_read_file", path="notes/diary.txt"),
    "read in a folder it names": call("workspace_read_file", path="vault/deep/plan.md"),
    "read through a link": call("workspace_read_file", path="settings"),
    "read by a detour": call("workspace_read_file", path="notes/../.env"),
    "search a file": call("workspace_search_files", query="rosebud", path=".env"),
    "search in a folder it names": call("workspace_search_files", query="rose", path="vault/deep"),
    "edit": edit(".env", "rosebud", "mine"),
    "edit to see what is there": edit(".env", "something else", "mine"),
    "edit through a link": edit("settings", "rosebud", "mine"),
    "overwrite": call("workspace_write_file", path=".env", content="mine\n"),
    "overwrite in a folder it names": call(
        "workspace_write_file", path="vault/deep/plan.md", content="mine\n"
    ),
    "delete": deleting(".env"),
    "delete what the folder names": deleting("notes/diary.txt"),
    "make an exception": edit(".steersmanignore", "diary.txt\n", "!.env\n"),
    "leave the sandbox": outside("cat $(ls -A | grep -x '.e[n]v')"),
}
# The guard reads what a command says and cannot follow these names; the sandbox need not.
UNSAID = "e=$(ls -A | grep -x '.e[n]v'); d=$(ls notes | grep '^di'); v=$(ls | grep '^vau')"
BY_COMMANDS = {
    "cat": 'cat "$e" "$e.production" deploy/server.p?m "notes/$d" "$v/deep/plan.md"',
    "python": 'python3 -c "import sys; print(open(sys.argv[1]).read())" "$e"',
    "by descriptor": 'python3 -c "import os, sys; print(os.read(os.open(sys.argv[1], 0), 9))" "$e"',
    "the shell alone": 'while read line; do echo "$line"; done < "$e"',
    "a link that is there": "cat settings",
    "a link": 'ln -s "$e" soft; cat soft; rm -f soft',
    "a hard link": 'ln "$e" hard; ln -L settings hard2; cat hard hard2',
    "a copy": 'cp "$e" copy; cp -r "$v" twin; cat copy twin/deep/plan.md',
    "another name": 'mv "$e" plain.txt; mv "$v" open; cat plain.txt open/deep/plan.md',
    "another name for a folder above": "mv notes notes2; cat notes2/*",
    "everything": "grep -r rosebud . ; find . -type f -exec cat {} + | grep rosebud",
    "another view": 'cat "/proc/self/root$PWD/$e" "/proc/self/cwd/$e"; cd "$v/deep"; cat plan.md',
    "git": 'git add -A; git add -f "$e"; git show ":$e"; git diff --no-index /dev/null "$e"',
    "git stash": "git stash -u; git clean -fdx; git status --short",
    "tar": "tar cf all.tar .; tar xfO all.tar; grep -c rosebud-in all.tar",
    "zip": 'python3 -m zipfile -c all.zip "$e" "$v"; grep -c rosebud-in all.zip',
    "emptied": ': > "$e"; truncate -s 0 "notes/$d"; echo mine > deploy/server.pem',
    "removed": 'rm -f "$e" "notes/$d"; rm -rf "$v" deploy',
    "an exception": "echo '!.env' >> .steersmanignore",
    "no list": "rm .steersmanignore",
    "in the next command": 'cat "notes/$d" plain.txt open/deep/plan.md notes2/* hard copy',
}  # fmt: skip
LISTED = ("git stash", "an exception", "no list")  # what changes the list itself


def shown(body):
    """Whether a result tells the word."""
    return WORD in json.dumps(body)


def kept_in_git(workspace):
    """Whether git has taken a secret in."""
    found = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=workspace, capture_output=True
    )
    return WORD.encode() in found.stdout


def assert_as_it_was(workspace):
    """Every secret is where it was, and nowhere else."""
    for name, text in HIDDEN.items():
        assert (workspace / name).read_text() == text, name
    for folder, _, files in os.walk(workspace):
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found = WORD.encode() in file.read()
            known = os.path.relpath(path, workspace) in HIDDEN or os.path.islink(path)
            assert not found or known, path
    assert not kept_in_git(workspace)


def played(steer, script, calls, *flags):
    """The results of calls, one a turn, as nobody watches."""
    model = script(*({"tool_calls": [made]} for made in calls.values()), {"text": "Done."})
    done = steer("run", "go", "--json", "--model", model, *flags)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    messages = decoded(done.stdout)
    results = [m["body"] for m in messages if m["kind"] == "tool_result"]
    assert [m["kind"] for m in messages if shown(m["body"])] == []
    return dict(zip(calls, results, strict=True))


def test_no_tool_reads_changes_or_deletes_a_secret_file(steer, script, workspace):
    results = played(steer, script, BY_TOOLS, "--approvals", "never")
    assert {name: body["status"] for name, body in results.items()} == dict.fromkeys(
        BY_TOOLS, "denied"
    )
    hidden = {name for name, body in results.items() if "secrets.hidden" in body["message"]}
    assert hidden == BY_TOOLS.keys() - {"make an exception", "leave the sandbox"}
    assert_as_it_was(workspace)


@pytest.mark.parametrize("flags", [["--approvals", "never"], ["--yes"]], ids=["alone", "yes"])
def test_no_command_reads_copies_or_loses_a_secret_file(steer, script, workspace, flags):
    commands = {
        name: shell(f"{UNSAID}; {{ {command}; }} 2>&1")
        for name, command in BY_COMMANDS.items()
        if flags != ["--yes"] or name not in LISTED
    }
    results = played(steer, script, commands, *flags)
    assert [name for name, body in results.items() if shown(body)] == []
    assert_as_it_was(workspace)
    if flags != ["--yes"]:
        refused = {name for name, body in results.items() if body["status"] != "ok"}
        assert refused == set(LISTED)


def test_on_the_folder_itself_no_command_does_either(steer, script, workspace):
    ways = ("cat", "a hard link", "a copy", "another name", "another name for a folder above",
            "emptied", "removed", "no list")  # fmt: skip
    command = "; ".join([UNSAID, *(f"({BY_COMMANDS[name]})" for name in ways), "true"])
    run = call("workspace_run_command", command=command, background=True, wait_timeout=60)
    results = played(steer, script, {"all of it": run}, "--yes")
    assert results["all of it"]["status"] == "ok"
    assert "Permission denied" in results["all of it"]["output"]["output"]
    assert_as_it_was(workspace)


@pytest.mark.parametrize(
    "command", ["cat .env", "python3 -c \"print(open('.env').read())\"", "< .env cat"]
)  # fmt: skip
def test_a_command_that_says_what_it_reads_is_blocked_before_it_runs(steer, workspace, command):
    arguments = json.dumps({"command": command})
    done = steer("call", "workspace_run_command", arguments, "--approvals", "never")
    assert done.returncode == 3
    assert "secrets.read" in done.stderr
    assert_as_it_was(workspace)


@pytest.mark.parametrize("engine", ENGINES)
def test_searching_and_listing_pass_secret_files_over(workspace, monkeypatch, engine):
    if engine == "python":
        monkeypatch.setattr(program, "_of_the_wheel", list)
    shop = Workshop(workspace, environ=environ_of(engine))
    everywhere = {"globs": [".env*", "*"], "include_ignored": True}
    results = shop.do(
        ("workspace_search_files", {"query": "rosebud"}),
        ("workspace_search_files", {"query": "rosebud", **everywhere}),
        ("workspace_search_pattern", {"pattern": "rose.*", **everywhere}),
        ("workspace_search_pattern", {"pattern": "rose.*", "output": "count", **everywhere}),
        ("workspace_search_files", {"query": "rosebud", "path": "notes"}),
    )
    (in_vault,) = shop.do(("workspace_search_pattern", {"pattern": "rose", "path": "vault"}))
    assert "plan.md" not in json.dumps(in_vault.output)
    assert [result.status for result in results] == ["ok"] * 5
    for result in results:
        told = json.dumps(result.output)
        assert "list.txt" in told
        assert WORD not in told
        assert "diary" not in told
        assert "plan.md" not in told


def test_no_instruction_file_brings_a_secret_to_the_model(steer, script, workspace):
    plant(workspace, {"a/x": "x\n", "b/x": "x\n"})
    calls = {
        "a link": shell(f'{UNSAID}; ln -s "../$e" a/AGENTS.md'),
        "read beside it": call("workspace_read_file", path="a/x"),
        "an import": call("workspace_write_file", path="b/CLAUDE.md", content="Read @../.env\n"),
        "read beside that": call("workspace_read_file", path="b/x"),
    }
    results = played(steer, script, calls, "--approvals", "never")
    assert [body["status"] for body in results.values()] == ["ok"] * 4
    assert_as_it_was(workspace)


def test_a_folder_makes_exceptions_only_as_far_as_a_person_agreed(steer, script, workspace):
    calls = {"read": call("workspace_read_file", path=".env.public")}

    def status():
        results = played(steer, script, calls, "--approvals", "never")
        return results["read"]["status"]

    assert status() == "denied"
    shown = steer("policy", "trust", "--yes").stdout
    assert "exceptions to secret files" in shown
    assert status() == "ok"
    with (workspace / ".steersmanignore").open("a") as ignored:
        ignored.write("more.txt\n")
    assert status() == "ok", "to hide more needs nobody's word"
    with (workspace / ".steersmanignore").open("a") as ignored:
        ignored.write("!.env.production\n")
    assert status() == "denied", "what the person agreed to is not what is there"


def test_what_is_no_secret_is_read_as_ever(steer, script):
    assert steer("policy", "trust", "--yes").returncode == 0
    calls = {
        "an exception of the folder": call("workspace_read_file", path=".env.public"),
        "an example": call("workspace_read_file", path=".env.example"),
        "by a command": shell("cat .env.example notes/list.txt; cat .e*.public"),
    }
    results = played(steer, script, calls, "--approvals", "never")
    assert [body["status"] for body in results.values()] == ["ok"] * 3
    assert results["by a command"]["output"]["output"].endswith("PORT=80\n")


def test_a_call_from_the_shell_is_told_which_file_it_is(steer, workspace):
    done = steer("call", "workspace_read_file", '{"path": ".env"}')
    assert (done.returncode, done.stdout) == (3, "")
    assert f"{workspace}/.env contains secrets" in done.stderr
    assert ".steersmanignore" in done.stderr


def test_doctor_warns_of_secrets_that_git_keeps(steer, workspace):
    def told():
        findings = decoded(steer("doctor", "--json").stdout)
        return [finding for finding in findings if finding["subject"] == "secrets"]

    assert told() == []
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", "-C", str(workspace)]
    subprocess.run([*git, "add", "-f", ".env", "README.md"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "by mistake"], check=True)
    subprocess.run([*git, "rm", "-q", "--cached", ".env"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "taken out, and still there"], check=True)
    (finding,) = told()
    assert finding["state"] == "note"
    assert "git's history contains .env: that cannot be hidden" in finding["found"]
    assert "change those secrets" in finding["fix"]
