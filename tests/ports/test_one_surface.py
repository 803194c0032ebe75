"""Whatever can be done exists once, and is the same tool over MCP, on the command line and in the
palette: name, description and arguments."""

import json

import pytest

from steersman.ports.mcp.calls import Workbench
from steersman.ports.mcp.serving import described
from steersman.records.dialogue import ToolSpec
from steersman.records.errors import UsageProblem
from steersman.records.settings import Settings
from steersman.views import capabilities
from steersman.views.commands import palette
from steersman.views.commands.registry import Registry
from tests.cli.kit import decoded
from tests.extensions.kit import COUNT, own
from tests.hooks.kit import play
from tests.views.commands.recording import at_desk

HOST = [
    "change_setting", "get_workspace_state", "open_file", "show_diff", "search_workspace",
    "run_terminal", "get_vcs_status",
]  # fmt: skip


@pytest.fixture
def everywhere(environ, workspace, script, steer):
    """The tools on each of the three surfaces, a tool of a file among them."""
    own(environ, COUNT)
    listed = decoded(steer("tools", "--json").stdout)

    async def over_mcp(host):
        return await Workbench(host, str(workspace), Settings()).tools()

    async def at_the_desk(desk):
        return palette.capabilities(desk.stage, Registry.at(desk.stage))

    shown = at_desk(environ, workspace, at_the_desk, model=script({"text": "Done."}))
    return listed, play(environ, over_mcp), [one for one in shown if one.kind == "tool"]


def test_every_capability_is_alike_on_all_three(everywhere):
    listed, offered, shown = everywhere
    specs = [ToolSpec(**one) for one in listed]
    sent = [json.loads(described(one).model_dump_json(by_alias=True)) for one in offered]
    assert [(one["name"], one["description"], one["inputSchema"]) for one in sent] == [
        (one.name, one.description, one.parameters) for one in specs
    ]
    assert [(one.name, one.about, one.detail) for one in shown] == [
        (one.name, " ".join(one.description.splitlines()[0].split()), capabilities.fields(one))
        for one in specs
    ]
    assert {*HOST, "count_words", "workspace_read_file"} <= {one.name for one in specs}


def test_the_command_line_explains_each_as_it_is(steer, environ):
    own(environ, COUNT)
    for spec in decoded(steer("tools", "--json").stdout):
        done = steer("call", spec["name"], "--help")
        told = " ".join(done.stdout.split())
        assert done.returncode == 0
        assert told.startswith(f"Usage: steer call {spec['name']} ")
        assert " ".join(spec["description"].split()) in told
        for name, about in spec["parameters"]["properties"].items():
            assert capabilities.flag(name) in told
            assert " ".join(about.get("description", "").split()) in told


def test_no_argument_is_hidden_by_a_flag_of_the_command_line(steer):
    """A flag that every command has would never reach the tool."""
    general = steer("call", "--help").stdout
    for spec in decoded(steer("tools", "--json").stdout):
        for name in spec["parameters"]["properties"]:
            assert f"{capabilities.flag(name)} " not in general, (spec["name"], name)


@pytest.mark.parametrize(
    "words",
    [
        ['{"query": "return", "path": "calc.py", "globs": ["*.py"], "context": 1}'],
        ["--query", "return", "--path=calc.py", "--globs", "*.py", "--context", "1"],
        ["--query=return", "--path", "calc.py", "--globs", '["*.py"]', "--context=1"],
    ],
    ids=["json", "flags", "other flags"],
)
def test_arguments_are_json_or_flags(steer, words):
    done = steer("call", "search_workspace", *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total"] == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--line", "many", "--path", "calc.py"], "`line` must be a whole number, not text"),
        (["--row", "1"], "open_file has no argument --row.\n  It has: --path, --line, --column."),
        (["--path"], "--path needs a value."),
        (["calc.py"], "The arguments are not a JSON object."),
    ],
)
def test_what_is_wrong_with_flags_is_said(steer, words, told):
    done = steer("call", "open_file", *words)
    assert done.returncode == 2
    assert told in done.stderr


def test_flags_work_in_the_palette_too():
    spec = ToolSpec("t", "T.", {"properties": {"path": {"type": "string"}}})
    assert capabilities.given(spec, "--path 'a b'") == {"path": "a b"}
    assert capabilities.given(spec, "") == {}
    with pytest.raises(UsageProblem):
        capabilities.given(spec, "--path 'a")
