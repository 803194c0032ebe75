"""What hooks start belongs to what the user agreed to, and is not changed unasked."""

import json
import os

import pytest

from steersman.governance import folders
from steersman.operations.running import behind
from steersman.records.errors import Denied
from steersman.records.hooks import Hook
from steersman.records.message import ConfirmRequest, ConfirmResponse, ToolResult, TurnEnd
from steersman.records.stamps import FRESH
from steersman.threads.hook_files import HookFiles
from steersman.threads.startups import files_of
from tests.cli.kit import DONE, READ, shell
from tests.hooks.kit import bodies, hook, opened, play, runs, trust, worked
from tests.world import call

CHECK = '"$CLAUDE_PROJECT_DIR"/scripts/check.sh'


@pytest.fixture
def guarded(workspace):
    """A folder whose hook runs a script of it."""
    (workspace / "scripts").mkdir()
    (workspace / "scripts" / "check.sh").write_text("exit 0\n")
    (workspace / ".claude").mkdir()
    said = {"hooks": hook("PreToolUse", f"sh {CHECK}")}
    (workspace / ".claude" / "settings.json").write_text(json.dumps(said))
    return workspace


def test_a_changed_script_of_a_hook_is_agreed_to_again(environ, guarded):
    async def scenario(host):
        trust(host, guarded)
        assert host.permissions.folder(str(guarded)).loads
        (guarded / "scripts" / "check.sh").write_text("exit 1\n")
        changed = host.permissions.folder(str(guarded))
        assert (changed.state, changed.changed) == ("changed", ("hooks",))
        assert "start scripts/check.sh" in changed.sentence("project")

    play(environ, scenario)


@pytest.mark.parametrize(
    "change",
    [
        call("workspace_write_file", path="scripts/check.sh", content="exit 1\n"),
        shell("echo exit 1 > scripts/check.sh"),
        shell("rm -r scripts"),
    ],
    ids=["written", "by a command", "deleted"],
)
@pytest.mark.parametrize("whose", ["of the folder", "of the user"])
def test_an_agent_changes_no_script_of_a_hook_unasked(environ, guarded, script, change, whose):
    own = hook("PreToolUse", "sh scripts/check.sh") if whose == "of the user" else {}
    model = script({"tool_calls": [change]}, DONE)

    async def scenario(host):
        if not own:
            trust(host, guarded)
        thread = await worked(host, guarded, model, hooks=own)
        (result,) = bodies(host, thread, ToolResult)
        assert "a hook runs scripts/check.sh" in result.message
        return result.status

    assert play(environ, scenario) == "denied"
    assert (guarded / "scripts" / "check.sh").read_text() == "exit 0\n"


@pytest.fixture
def many(guarded):
    """A folder with scripts that are run in many ways."""
    scripts = guarded / "scripts"
    (scripts / "look.py").write_text("from scripts import rules\nimport helper\n")
    (scripts / "rules.py").touch()
    (scripts / "helper.py").touch()
    (scripts / "two.sh").write_text('. "$(dirname "$0")/lib.sh"\n# never app.py\n')
    (scripts / "lib.sh").write_text("run() { ./scripts/deep.sh >> log.txt; }\n")
    (scripts / "deep.sh").write_text("# scripts/check.sh is another\n")
    (guarded / "app.py").touch()
    (guarded / "log.txt").touch()
    (guarded / "a folder").mkdir()
    (guarded / "a folder" / "check it.sh").touch()
    (guarded / "link").symlink_to("scripts/check.sh")
    (guarded / "tools").symlink_to("scripts")
    said = {"lint": "eslint app.py && node scripts/lint.js", "start": "python app.py"}
    (guarded / "package.json").write_text(json.dumps({"main": "app.py", "scripts": said}))
    (scripts / "lint.js").write_text('const rules = require("./lint-rules")\n')
    (scripts / "lint-rules.js").touch()
    (guarded / "Makefile").write_text(
        "CHECK = sh scripts/check.sh\nall: app.py\n\tpython app.py\n"
        "check: quick app.py\n\t@$(CHECK) app.py\nquick:\n\tpython -m scripts.rules\n"
    )
    (guarded / "bin").mkdir()
    (guarded / "bin" / "judge").write_text("#!/bin/sh\n")
    return guarded


LOOK = ["scripts/helper.py", "scripts/look.py", "scripts/rules.py"]


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (CHECK, ["scripts/check.sh"]),
        ("${CLAUDE_PROJECT_DIR}/scripts/check.sh --fast", ["scripts/check.sh"]),
        ("${CLAUDE_PROJECT_DIR:-.}/scripts/check.sh", ["scripts/check.sh"]),
        ("$PWD/scripts/check.sh", ["scripts/check.sh"]),
        ('"$(git rev-parse --show-toplevel)"/scripts/check.sh', ["scripts/check.sh"]),
        ("cd scripts && ./check.sh", ["scripts/check.sh"]),
        ("S=scripts; sh $S/check.sh", ["scripts/check.sh"]),
        ("sh < scripts/check.sh", ["scripts/check.sh"]),
        ("bash -c 'sh \"$PWD\"/scripts/check.sh'", ["scripts/check.sh"]),
        ("'a folder/check it.sh'", ["a folder/check it.sh"]),
        ('"$PWD/a folder"/check\\ it.sh', ["a folder/check it.sh"]),
        ("python -m scripts.look", LOOK),
        ("python scripts/look.py", LOOK),
        ("./link", ["link", "scripts/check.sh"]),
        ("tools/check.sh", ["scripts/check.sh", "tools", "tools/check.sh"]),
        ("sh scripts/two.sh", ["scripts/deep.sh", "scripts/lib.sh", "scripts/two.sh"]),
        ("make check", ["Makefile", "scripts/check.sh", "scripts/rules.py"]),
        ("make quick", ["Makefile", "scripts/rules.py"]),
        ("npm run lint", ["package.json", "scripts/lint-rules.js", "scripts/lint.js"]),
        ("judge --all", ["bin/judge"]),
        ("sh scripts/later.sh", ["scripts/later.sh"]),
        ("jq -r .tool_input.file_path | xargs ruff format", []),
        ("echo done >> log.txt", []),
        ("cat ../../etc/passwd", []),
    ],
)
def test_files_that_decide_what_a_hook_says(many, command, files):
    search = f"/usr/bin:{many}/bin"
    assert files_of([Hook("Stop", command, "here")], str(many), search) == files


def test_a_hook_that_runs_the_project_itself_does_not_hold_its_code(many):
    """Of a check that loads it all, the script counts: else each edit would need an approval."""
    package = many / "app"
    package.mkdir()
    names = [f"part{at}" for at in range(80)]
    for name in names:
        (package / f"{name}.py").touch()
    (many / "scripts" / "all.py").write_text(f"from app import {', '.join(names)}\n")
    found = files_of([Hook("Stop", "python scripts/all.py", "here")], str(many))
    assert found == ["scripts/all.py"]


def test_scripts_that_scripts_name_count_over_three_steps(guarded):
    scripts = guarded / "scripts"
    for at in range(5):
        (scripts / f"s{at}.sh").write_text(f". scripts/s{at + 1}.sh\n")
    found = files_of([Hook("Stop", "sh scripts/s0.sh", "here")], str(guarded))
    assert found == [f"scripts/s{at}.sh" for at in range(4)]


def test_of_a_hook_that_only_tells_something_what_it_names_itself_counts(many):
    """A formatter reads what it likes, and the agent edits that without a question."""
    for command, files in (
        ("make check", []),
        ("npm run lint", []),
        ("sh scripts/two.sh", ["scripts/two.sh"]),
    ):
        assert files_of([Hook("PostToolUse", command, "here")], str(many)) == files


TRICKS = {
    "through a link": ("tools/check.sh", "ln -s scripts/check.sh l; echo exit 1 > l"),
    "through a folder": ("tools/check.sh", "echo exit 1 > tools/check.sh"),
    "another folder": ("tools/check.sh", "rm tools; mkdir tools; echo exit 1 > tools/check.sh"),
    "a moved folder": ("tools/check.sh", "mv scripts s; ln -s s scripts; echo exit 1 > s/check.sh"),
    "a runner's file": ("make check", "echo 'check:' > Makefile"),
    "a runner's script": ("make check", "echo exit 1 > scripts/check.sh"),
    "a sourced script": ("sh scripts/two.sh", "echo exit 1 > scripts/deep.sh"),
    "a module": ("python -m scripts.look", "echo 1 > scripts/helper.py"),
    "a missing script": ("sh scripts/later.sh", "echo exit 1 > scripts/later.sh"),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_an_agent_changes_nothing_behind_a_hook_unasked(environ, many, script, trick):
    command, change = TRICKS[trick]
    own = hook("Stop", command)
    model = script({"tool_calls": [shell(change)]}, DONE)
    before = {path: path.read_bytes() for path in many.rglob("*") if path.is_file()}

    async def scenario(host):
        thread = await worked(host, many, model, hooks=own)
        (result,) = bodies(host, thread, ToolResult)
        assert "a hook runs " in result.message
        return result.status

    assert play(environ, scenario) == "denied"
    assert {path: path.read_bytes() for path in many.rglob("*") if path.is_file()} == before


def test_a_hard_link_that_an_agent_writes_leaves_the_script_as_it_is(environ, many, script):
    model = script({"tool_calls": [shell("ln scripts/check.sh l; echo exit 1 > l")]}, DONE)

    async def scenario(host):
        await worked(host, many, model, hooks=hook("Stop", "sh scripts/check.sh"))

    play(environ, scenario)
    assert (many / "scripts" / "check.sh").read_text() == "exit 0\n"


WAYS = {
    "rewritten": lambda scripts: (scripts / "lib.sh").write_text("exit 0\n"),
    "by another name": lambda scripts: (scripts.parent / "other").write_text("exit 0\n"),
    "behind a link": lambda scripts: swapped(scripts / "real", scripts / "lib.sh"),
    "deleted": lambda scripts: (scripts / "lib.sh").unlink(),
    "created": lambda scripts: (scripts / "check.py").write_text("import lib\n"),
}


def swapped(aside, file):
    """A file becomes a link to another."""
    aside.write_text("exit 0\n")
    file.unlink()
    file.symlink_to(aside.name)


@pytest.fixture
def refused(guarded):
    """A folder with a hook that refuses every call, by a script that another one sources."""
    scripts = guarded / "scripts"
    (scripts / "check.sh").write_text(". scripts/lib.sh\n[ ! -e scripts/check.py ]\n")
    (scripts / "lib.sh").write_text("echo never >&2\nexit 2\n")
    os.link(scripts / "lib.sh", guarded / "other")
    return guarded


@pytest.mark.parametrize("way", WAYS)
def test_a_hook_whose_files_changed_is_not_run_unasked(environ, refused, script, way):
    """Where nobody is asked, the call that it might have refused is denied."""
    model = script({"tool_calls": [READ]}, DONE, {"tool_calls": [READ]}, DONE)

    async def scenario(host):
        trust(host, refused)
        thread = await worked(host, refused, model)
        WAYS[way](refused / "scripts")
        await thread.send("again")
        await thread.wait()
        assert [one.decision for one in runs(host, thread)] == ["deny", "ask"]
        return [one.message for one in bodies(host, thread, ToolResult)]

    first, second = play(environ, scenario)
    assert first.startswith("Denied by a hook: never")
    name = "scripts/check.py" if way == "created" else "scripts/lib.sh"
    assert name in second
    assert "changed, which this hook runs" in second


@pytest.mark.parametrize(
    "steps",
    [[{"tool_calls": [READ]}, {"tool_calls": [READ]}], [{"tool_calls": [READ, READ]}]],
    ids=["one after the other", "at the same time"],
)
def test_who_agrees_to_changed_files_of_a_hook_is_asked_once(environ, refused, script, steps):
    model = script(DONE, *steps, DONE)
    asked = []

    async def scenario(host):
        trust(host, refused)
        thread = await worked(host, refused, model, approvals="on-failure", attended=True)
        (refused / "scripts" / "lib.sh").write_text("exit 0\n")
        await thread.send("again")
        async for message in thread.events(0):
            if isinstance(message.body, ConfirmRequest):
                asked.append(message.body.reason)
                await thread.answer(message.corr, ConfirmResponse("allow"))
            if isinstance(message.body, TurnEnd) and message.turn == 2:
                break
        await thread.wait()
        return [one.status for one in bodies(host, thread, ToolResult)]

    assert play(environ, scenario) == ["ok", "ok"]
    assert asked == ["scripts/lib.sh changed, which this hook runs: check what it does now"]


def test_a_message_does_not_pass_a_hook_whose_files_changed(environ, refused, script):
    said = {"hooks": hook("UserPromptSubmit", "sh scripts/lib.sh")}
    (refused / ".claude" / "settings.json").write_text(json.dumps(said))

    async def scenario(host):
        trust(host, refused)
        thread = await opened(host, refused, script(DONE))
        (refused / "scripts" / "lib.sh").write_text("exit 0\n")
        with pytest.raises(Denied, match=r"scripts/lib\.sh changed, which this hook runs"):
            await thread.send("go")

    play(environ, scenario)


@pytest.mark.parametrize("event", ["PostToolUse", "Notification"])
def test_a_hook_that_only_tells_something_runs_with_what_the_agent_wrote(
    environ, many, script, event
):
    """It is confined like a command of the agent, which could run the same."""
    fix = call("workspace_write_file", path="Makefile", content="fmt:\n\ttrue\n")
    model = script({"tool_calls": [fix]}, DONE)

    async def scenario(host):
        thread = await worked(host, many, model, hooks=hook(event, "make fmt"))
        assert {one.problem for one in runs(host, thread)} <= {""}
        return [one.status for one in bodies(host, thread, ToolResult)]

    assert play(environ, scenario) == ["ok"]


def test_who_is_asked_sees_the_command_as_it_is_and_where_it_is_cut(environ, guarded):
    said = {"hooks": hook("Stop", "true\n" + "x" * 300)}
    (guarded / ".claude" / "settings.json").write_text(json.dumps(said))

    async def scenario(host):
        return host.permissions.folder(str(guarded)).sentence("project")

    told = play(environ, scenario)
    assert '"true\\nxxx' in told
    assert 'xxx…" in a sandbox' in told


@pytest.fixture
def effort(monkeypatch):
    """How often the files behind a hook are searched for, and which are read whole."""
    done = {"searches": 0, "read": []}
    search, digest = behind.search, folders.digest_of_file

    def searching(*given):
        done["searches"] += 1
        return search(*given)

    def reading(path):
        done["read"].append(os.path.basename(path))
        return digest(path)

    monkeypatch.setattr(behind, "search", searching)
    monkeypatch.setattr(folders, "digest_of_file", reading)
    return done


def settled(folder):
    """Wait until whatever is written from now on shows in a file's times."""
    probe = folder.parent / "clock"
    last = max(os.lstat(path).st_ctime_ns for path in folder.rglob("*"))
    while not probe.exists() or probe.stat().st_ctime_ns <= last + 2 * FRESH:
        probe.write_text("")


def test_the_files_behind_a_hook_are_searched_and_read_once(environ, guarded, script, effort):
    """Three calls, one hook: before each its files are only looked at, not read."""
    model = script(*[{"tool_calls": [READ]}] * 3, DONE)
    settled(guarded)

    async def scenario(host):
        trust(host, guarded)
        thread = await worked(host, guarded, model)
        return len(runs(host, thread))

    assert play(environ, scenario) == 3
    assert effort == {"searches": 1, "read": ["check.sh", "settings.json"]}


def same_size_and_time(file):
    """Rewrite a file so that neither its size nor the time of its content shows it."""
    then = file.stat()
    file.write_text(file.read_text().replace("2", "0"))
    os.utime(file, ns=(then.st_atime_ns, then.st_mtime_ns))


SEEN = {
    "disguised": ("sh scripts/check.sh", "scripts/lib.sh", same_size_and_time),
    "named before it was there": (
        "sh scripts/check.sh; sh scripts/late.sh",
        "scripts/late.sh",
        lambda file: file.write_text("exit 0\n"),
    ),
    "a program that comes first": ("judge", "bin/judge", lambda file: file.write_text("exit 0\n")),
    "a runner's other file": (
        "make check",
        "GNUmakefile",
        lambda file: file.write_text("check:\n"),
    ),
}


@pytest.mark.parametrize("way", SEEN)
def test_what_is_known_of_files_behind_a_hook_does_not_outlive_them(refused, way):
    command, name, change = SEEN[way]
    (refused / "bin").mkdir()
    one = Hook("Stop", command, "here")
    settled(refused)
    files = HookFiles([one], str(refused), str(refused / "bin"))
    assert files.changed(one, files.now(one)) == []
    change(refused / name)
    settled(refused)
    assert files.changed(one, files.now(one)) == [name]


def test_a_file_that_was_just_written_is_read_again(refused):
    """Two changes may have one time, by the clock of a file system."""
    one = Hook("Stop", "sh scripts/check.sh", "here")
    for text in ("exit 1\n", "exit 2\n") * 20:
        files = HookFiles([one], str(refused), "")
        (refused / "scripts" / "lib.sh").write_text(text)
        assert files.changed(one, files.now(one)) == ["scripts/lib.sh"]
