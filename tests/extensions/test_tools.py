"""A Python file with one class is a tool: of the user, or of a folder that they trust."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from steersman.records.message import Audit, Checkpoint, Policy
from tests.cli.kit import DONE, decoded
from tests.extensions.kit import COUNT, brought, called, own, tool
from tests.hooks.kit import bodies, opened, play, trust, worked
from tests.host.test_settings_by_turn import offered as offered_in
from tests.world import call


def names(steer):
    return {one["name"] for one in decoded(steer("tools", "--json").stdout)}


def test_a_file_in_the_users_folder_is_a_tool(environ, workspace, script):
    own(environ, COUNT)
    result = called(environ, workspace, script, "count_words", path="README.md")
    assert (result.status, result.output) == ("ok", {"content": {"words": 2}})


def test_it_is_listed_with_its_origin_and_called_from_a_shell(environ, steer):
    path = own(environ, COUNT)

    assert f"count_words(path)\n    Count the words of a file. ({path})" in steer("tools").stdout
    done = steer("call", "count_words", json.dumps({"path": "README.md"}))
    assert json.loads(done.stdout) == {"content": {"words": 2}}


def test_wrong_arguments_are_told_in_words(environ, workspace, script):
    own(environ, COUNT)
    result = called(environ, workspace, script, "count_words", file="README.md")
    assert result.status == "malformed"
    assert "The arguments of count_words are not valid: there is no `file`." in result.message
    assert "It takes: path." in result.message


def test_the_file_is_run_once_to_learn_what_it_is(environ, steer, workspace):
    """What it says of itself is kept by the digest of its text."""
    slow = COUNT.replace("import os", "import time; time.sleep(1)\nimport os")
    own(environ, slow)
    kept = Path(environ["STEERSMAN_HOME"], "extensions")
    assert "count_words" in names(steer)
    (first,) = kept.iterdir()
    before = first.stat().st_mtime_ns
    assert "count_words" in names(steer)
    assert [one.stat().st_mtime_ns for one in kept.iterdir()] == [before]


def test_a_folders_tool_is_used_once_the_folder_is_trusted(environ, workspace, steer, script):
    path = brought(workspace, COUNT)
    assert "count_words" not in names(steer)

    async def trusting(host):
        trust(host, workspace)

    play(environ, trusting)
    assert "count_words" in names(steer)
    path.write_text(COUNT.replace("the words", "all words"))
    assert "count_words" not in names(steer)
    told = steer("call", "workspace_status").stderr + steer("doctor").stdout
    assert steer("policy", "trust", "--yes").returncode == 0, told
    assert "Count all words of a file." in steer("tools").stdout


def test_the_agent_cannot_rewrite_a_folders_tool_unasked(environ, workspace, script):
    path = brought(workspace, COUNT)
    model = script(
        {
            "tool_calls": [
                call("workspace_write_file", path=".steersman/tools/probe.py", content="x"),
                call(
                    "workspace_run_command", command="echo x > .steersman/tools/probe.py; echo done"
                ),
            ]
        },
        DONE,
    )

    async def scenario(host):
        trust(host, workspace)
        await worked(host, workspace, model)

    play(environ, scenario)
    assert path.read_text() == COUNT


def test_what_a_tool_changes_is_judged_and_can_be_undone(environ, workspace, script, steer):
    own(environ, tool('open("made.txt", "w").write("x")\nreturn "done"', 'files = "write"'))
    model = script({"tool_calls": [call("probe")]}, DONE)

    async def scenario(host):
        thread = await worked(host, workspace, model)
        return thread.id, bodies(host, thread, Checkpoint), bodies(host, thread, Policy)

    thread, (checkpoint,), policies = play(environ, scenario)
    assert [change.path for change in checkpoint.changes] == ["made.txt"]
    assert [one.action.__struct_config__.tag for one in policies] == ["execute", "write"]
    assert (workspace / "made.txt").exists()
    assert steer("undo", thread, "--yes").returncode == 0
    assert not (workspace / "made.txt").exists()


def test_a_tool_that_says_it_only_reads_cannot_write(environ, workspace, script):
    own(environ, tool('open("made.txt", "w").write("x")'))
    result = called(environ, workspace, script)
    assert result.status == "error"
    assert "Read-only file system" in result.message
    assert not (workspace / "made.txt").exists()


REACH = """\
import urllib.request
return urllib.request.urlopen("http://example.invalid/", timeout=5).read().decode()
"""


@pytest.mark.parametrize(
    ("facts", "asked"),
    [((), []), (("hosts = ['other.invalid']",), []),
     (("hosts = ['example.invalid']",), ["example.invalid"])],
    ids=["none", "another", "this one"],
)  # fmt: skip
def test_it_reaches_only_hosts_that_it_names_and_the_gate_allows(
    environ, workspace, script, facts, asked
):
    own(environ, tool(REACH, *facts))
    model = script({"tool_calls": [call("probe")]}, DONE)

    async def scenario(host):
        thread = await worked(host, workspace, model)
        found = bodies(host, thread, Policy)
        return [one.action.host for one in found if hasattr(one.action, "host")]

    assert play(environ, scenario) == asked


@pytest.mark.parametrize(("mode", "offered"), [("ask", 0), ("spec", 0), ("plan", 1), ("code", 2)])
def test_a_mode_offers_what_it_can_run(environ, workspace, script, mode, offered):
    """Ask and spec mode run nothing, and plan mode changes nothing."""
    own(environ, tool("return 1", name="reader"), "reader.py")
    own(environ, tool("return 1", 'files = "write"', name="writer"), "writer.py")

    async def scenario(host):
        thread = await opened(host, workspace, script(DONE), mode=mode)
        return len({"reader", "writer"} & set(offered_in(host, thread)))

    assert play(environ, scenario) == offered


def test_what_is_wrong_with_a_file_is_said_and_the_others_are_used(environ, workspace, script):
    own(environ, COUNT, "count.py")
    own(environ, "class", "broken.py")
    own(environ, COUNT, "second.py")
    own(environ, tool("return 1", name="workspace_status"), "taken.py")

    async def scenario(host):
        thread = await opened(host, workspace, script(DONE))
        await thread.send("go")
        await thread.wait()
        return [one.what for one in bodies(host, thread, Audit) if one.about == "settings"]

    told = play(environ, scenario)
    folder = Path(environ["XDG_CONFIG_HOME"], "steersman", "tools")
    assert told == [
        f"{folder}/broken.py is not used: Line 1 is not valid Python: invalid syntax.",
        f"{folder}/second.py is not used: {folder}/count.py has a tool count_words already.",
        f"{folder}/taken.py is not used: workspace_status is a tool of Steersman.",
    ]


def test_a_link_that_leads_out_of_the_folder_is_not_followed(environ, workspace, steer, tmp_path):
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text(COUNT)
    folder = workspace / ".steersman" / "tools"
    folder.mkdir(parents=True)
    os.symlink(elsewhere, folder / "count.py")
    assert steer("policy", "trust", "--yes").returncode == 0
    assert "count_words" not in names(steer)


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ({"deny": ("tool:count_words",)}, "denied"),
        ({"tools": ("workspace_status",)}, "malformed"),
        ({"tools": ("workspace_status", "count_words")}, "ok"),
    ],
    ids=["a rule", "not among the tools", "among the tools"],
)
def test_rules_and_lists_of_tools_name_it(environ, workspace, script, how, status):
    own(environ, COUNT)
    result = called(environ, workspace, script, "count_words", how, path="README.md")
    assert result.status == status


def test_other_agents_see_whether_it_only_reads(environ, steer):
    own(environ, tool("return 1", name="reader"), "reader.py")
    own(environ, tool("return 1", 'files = "write"', name="writer"), "writer.py")
    own(environ, tool("return 1", 'hosts = ["a.example"]', name="caller"), "caller.py")
    kinds = {one["name"]: one["family"] for one in decoded(steer("tools", "--json").stdout)}
    assert [kinds[name] for name in ("reader", "writer", "caller")] == ["read", "run", "run"]


def test_without_any_no_folder_is_listed(environ, workspace):
    """An audit hook of Python shows every folder that is listed."""
    looked = "import sys; sys.addaudithook(lambda name, about: name in ('os.listdir', 'os.scandir')"
    code = f"""{looked} and print(about[0]))
from steersman.threads.offering import find_tools
import os
import subprocess
import sys
print("---")
print(find_tools(os.getcwd(), os.environ, trusted=True))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=workspace, env=environ, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.partition("---\n")[2] == "None\n"
