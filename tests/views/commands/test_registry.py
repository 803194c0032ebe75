"""Commands by name: found in a line, completed, refused with a sentence; the palette's list."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.records.errors import UsageProblem
from steersman.views.commands import palette
from steersman.views.commands.registry import Command, Registry, elsewhere, is_command, own_commands
from tests.views.commands.recording import at_desk
from tests.world import call

NAMES = [
    "add-dir", "approvals", "ask", "code", "commit", "compact", "config", "context",
    "continue", "copy", "cost", "debug", "detach", "diff", "docs", "drop", "edit", "effort",
    "export",
    "fork", "help", "hooks", "init", "jobs", "keys", "login", "logout", "mcp", "memory", "mention",
    "model", "new", "output", "permissions", "plan", "pr", "queue", "quit", "redo", "rename",
    "resume", "retry", "review", "rewind", "skills", "spec", "status", "style", "theme", "trust",
    "undo",
]  # fmt: skip


async def nothing(stage, arguments):
    """A command that does nothing."""


SOME = Registry(
    [
        Command("model", "Model.", nothing, aliases=("m",)),
        Command("mention", "Mention.", nothing),
        Command("memory", "Memory.", nothing),
        Command("db:migrate", "Migrate.", nothing),
    ]
)


def test_the_products_commands():
    assert [command.name for command in own_commands()] == NAMES


@pytest.mark.parametrize("command", own_commands(), ids=lambda command: command.name)
def test_every_command_is_described(command):
    assert command.about.endswith(".")
    assert len(command.about) <= 72
    assert not command.source


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("/model", ("model", "")),
        ("/model openai:x", ("model", "openai:x")),
        ("  /model   two words  ", ("model", "two words")),
        ("/MODEL x", ("model", "x")),
        ("/m x", ("model", "x")),
        ("/db:migrate now", ("db:migrate", "now")),
        ("/model first\nsecond line", ("model", "first\nsecond line")),
        ("/model\nbelow", ("model", "below")),
        ("/model\tx", ("model", "x")),
        ("# never tabs", ("memory", "add never tabs")),
        ("#   never tabs \n", ("memory", "add never tabs")),
        ("# Title\n\nand more", None),
        ("# ", None),
        ("#12 is open", None),
        ("## Title", None),
        (" # indented", None),
        ("model", None),
        ("/", None),
        ("", None),
        ("// a comment", None),
        ("/* a comment */", None),
        ("/usr/bin/env is a path", None),
        ("/etc/", None),
        ("say /model", None),
    ],
)
def test_what_a_line_means(line, meant):
    call_ = SOME.find(line)
    assert (call_ and (call_.command.name, call_.arguments)) == meant
    assert is_command(line) == (meant is not None)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("exit", "quit"),
        ("quit", "quit"),
        (" Exit \n", "quit"),
        (":q", "quit"),
        (":wq", "quit"),
        ("help", "help"),
        ("/exit", "quit"),
        ("exit the loop early", None),
        ("help me", None),
        ("q", None),
    ],
)
def test_a_word_by_which_one_leaves_or_asks_for_help_is_no_message(line, meant):
    found = Registry(own_commands()).find(line)
    assert (found and found.command.name) == meant
    assert is_command(line) == (meant is not None)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/modle", "Similar: /model."),
        ("/men", "Similar: /mention, /model."),
        ("/m0del x", "Similar: /model."),
        ("/xyzzy", ""),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest(line, why):
    with pytest.raises(UsageProblem) as raised:
        SOME.find(line)
    assert (raised.value.why, raised.value.try_this) == (why, "/help shows them all.")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("/sessions", "resume"),
        ("/settings model x", "config"),
        ("/usage", "cost"),
        ("/stats", "cost"),
        ("/allowed-tools", "permissions"),
        ("/exit", "quit"),
    ],
)
def test_what_other_agents_call_a_command_works_here(line, meant):
    found = Registry(own_commands()).find(line)
    assert found
    assert found.command.name == meant


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/agents", "`steer agents`"),
        ("/doctor", "`steer doctor`"),
        ("/todos", "F6"),
        ("/history", "/rewind"),
        ("/thinking on", "/effort"),
        ("/bug", "/export"),
        ("/vim", "/edit"),
    ],
)
def test_what_other_agents_have_and_we_do_not_is_answered_with_what_helps(line, told):
    with pytest.raises(UsageProblem) as raised:
        Registry(own_commands()).find(line)
    assert told in raised.value.why


def test_a_command_that_you_wrote_comes_before_another_agents_name():
    mine = Command("sessions", "Mine.", nothing)
    registry = Registry([*own_commands(), mine])
    assert registry.get("sessions") is mine
    assert "sessions" not in registry.also(registry.get("resume"))


def test_the_names_of_other_agents_lead_to_commands_that_exist():
    known = elsewhere()
    assert set(known["same"].values()) <= set(NAMES)
    assert not (known["same"].keys() | known["told"].keys()) & set(NAMES)
    assert not known["same"].keys() & known["told"].keys()


@given(st.text(max_size=30) | st.text(max_size=30).map("/".__add__))
def test_any_line_is_a_command_or_words_or_a_sentence(line):
    try:
        found = SOME.find(line) is not None
    except UsageProblem:
        found = True
    assert found == is_command(line)


def test_completion(environ, workspace):
    async def scenario(desk):
        registry = Registry.at(desk.stage)

        def choices(line):
            return [choice.text for choice in registry.complete(desk.stage, line)]

        return {line: choices(line) for line in LINES}

    assert at_desk(environ, workspace, scenario, model="openai:x") == LINES


LINES = {
    "/mo": ["/model", "/memory"],
    "/un": ["/undo"],
    "/re": ["/redo", "/rename", "/resume", "/retry", "/review", "/rewind", "/undo"],
    "/port": ["/export"],
    "/exi": ["/quit"],
    "/approvals on": ["/approvals on-request", "/approvals on-failure"],
    "/trust un": ["/trust untrusted"],
    "/model ": ["/model openai:x", "/model auto"],
    "/mention ca": ["/mention calc.py"],
    "/mention nowhere/": [],
    "/theme l": ["/theme light"],
    "/help und": ["/help undo"],
    "/rewind ": [],
    "/nothing ": [],
    "words": [],
}


def test_while_a_turn_works_some_commands_wait(environ, workspace, script):
    sleep = call("workspace_run_command", command="echo begun; sleep 600")
    model = script({"tool_calls": [sleep]})

    async def scenario(desk):
        await desk.seat.say("work")
        async for message in desk.seat.follow():
            if message.kind == "tool_progress":
                break
        registry = Registry.at(desk.stage)
        for line in ("/plan", "/undo", "/status", "/queue later"):
            assert await registry.run(desk.stage, line)
        queued = [message.body.state for message in desk.messages("steer")]
        await desk.seat.handle.cancel()
        return desk.stage.happened, queued

    happened, queued = at_desk(environ, workspace, scenario, model=model, approvals="never")

    waits = (
        "cannot be used while a turn runs.\nStop the turn with Esc, or try again when it has ended."
    )
    plan = "Mode plan: research and write a plan; nothing else changes."
    assert happened[:2] == [("tell", plan), ("tell", f"/undo {waits}")]
    assert "**now** a turn runs" in happened[2][1][1]
    assert queued == ["queued"]


def test_the_palette_has_every_command_tool_and_thread(environ, workspace, script, steer):
    model = script({"text": "Done."})

    async def scenario(desk):
        await desk.type("a first thread")
        first = desk.seat.id
        await desk.type("/new")
        registry = Registry.at(desk.stage)
        listed = palette.capabilities(desk.stage, registry)
        await palette.choose(desk.stage, registry, f"thread:{first}")
        return first, listed, desk.seat.id

    first, listed, seated = at_desk(environ, workspace, scenario, model=model)
    by_kind = {kind: [one.name for one in listed if one.kind == kind]
               for kind in ("command", "tool", "thread")}  # fmt: skip
    printed = steer("tools", "--json").stdout.splitlines()

    assert by_kind["command"] == [f"/{name}" for name in NAMES]
    assert [one.name for one in listed if "/settings" in one.about] == ["/config"]
    assert [one.name for one in listed if "/exit" in one.about] == ["/quit"]
    assert by_kind["tool"] == [json.loads(line)["name"] for line in printed]
    assert by_kind["thread"] == ["a first thread"]
    assert len({one.key for one in listed}) == len(listed)
    assert seated == first


def test_a_tool_is_called_from_the_palette(environ, workspace, script):
    async def scenario(desk):
        registry = Registry.at(desk.stage)
        desk.stage.answers += ['{"path": "calc.py"}', "{", None]
        for _ in range(3):
            await palette.choose(desk.stage, registry, "tool:workspace_read_file")
        await palette.choose(desk.stage, registry, "tool:nothing")
        await palette.choose(desk.stage, registry, "/queue")
        return desk.stage.happened

    model = script({"text": "unused"})
    happened = at_desk(environ, workspace, scenario, model=model)

    title = "Arguments of workspace_read_file, as JSON or flags: path, [offset], [limit]"
    asked = (title, '{"path":""}')
    assert happened == [
        ("ask", asked),
        ("tell", "workspace_read_file: 2 of 2 lines"),
        ("ask", asked),
        ("tell", "The arguments are not a JSON object.\nThe JSON is cut off."),
        ("ask", asked),
        ("tell", "There is no tool “nothing” here."),
        ("compose", "/queue "),
    ]
