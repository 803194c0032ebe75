"""What comes before the first word: trust of the folder, a model, and what goes wrong."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from textual.widgets import Input

from steersman.host.config import entry
from steersman.host.login import logins
from steersman.ports.tui.panes.passing import Passing
from steersman.ports.tui.wanted import Wanted
from tests.cli.kit import DONE
from tests.host.wires import RecordingStage
from tests.tui.app.bridge import at_the_terminal, live


def bring_servers(workspace):
    """Let the folder bring something that would start programs."""
    servers = {"mcpServers": {"theirs": {"command": "true"}}}
    (workspace / ".mcp.json").write_text(json.dumps(servers))


def test_a_folder_that_brings_servers_is_asked_about_once(environ, workspace, script):
    async def first():
        async with at_the_terminal(environ, workspace, script(DONE), wanted=Wanted()) as me:
            await me.sees("Do you trust this folder?", ".mcp.json")
            await me.press("y")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            assert me.app.seat.host.permissions.folder(str(workspace)).state == "trusted"

    async def then():
        async with at_the_terminal(environ, workspace, script(DONE), wanted=Wanted()) as me:
            await me.say("hello")
            await me.turn_ends()
            assert "trust this folder" not in me.screen()

    bring_servers(workspace)
    live(first)
    live(then)


def test_a_command_that_a_folder_brings_is_named_once(environ, workspace, script):
    run = {"type": "command", "command": "echo linted"}
    hooks = {"hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [run]}]}}
    (workspace / ".claude").mkdir()
    (workspace / ".claude/settings.json").write_text(json.dumps(hooks))

    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE), wanted=Wanted()) as me:
            await me.sees("Do you trust this folder?", "echo linted", "not been")
            assert me.screen().count("echo linted") == 1

    live(scene)


def test_escape_leaves_the_question_for_later(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE), wanted=Wanted()) as me:
            await me.sees("Do you trust this folder?")
            await me.press("escape")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            assert me.app.seat.host.permissions.folder(str(workspace)).state == "unknown"

    bring_servers(workspace)
    live(scene)


PING = {"tool_calls": [{"name": "ping", "arguments": {"text": "ok"}}]}


@pytest.fixture
def server():
    """A model server."""
    stage = RecordingStage()
    stage.play(PING)
    yield stage
    stage.close()


def test_without_a_model_one_logs_in_on_the_first_page(environ, workspace, server):
    key = "-".join(["words", "of", "nobody"])
    bare = {**environ, "PATH": "", "OPENAI_BASE_URL": f"{server.url}/v1"}

    async def scene():
        async with at_the_terminal(bare, workspace, wanted=Wanted()) as me:
            await me.sees("Choose a model", "Log in with a key", "See the demo")
            await me.write("log in")
            await me.press("enter")
            await me.sees("Log in with a key of", "OpenAI", "Another server")
            await me.press("enter")
            await me.sees("Paste your OpenAI key")
            await me.write(key)
            await me.until(lambda: "•••" in me.screen())
            assert key not in me.screen()
            await me.press("enter")
            await me.until(lambda: me.app.seat.settings.model == "openai:scripted")
            server.play({"text": "Hello there."})
            await me.say("hello")
            await me.turn_ends()
            await me.sees("Hello there.")
            assert server.headers[-1]["authorization"] == f"Bearer {key}"
            await me.say("/login openai")
            await me.sees("Paste your OpenAI key")
            server.play({"text": "Never.", "error": {"status": 401, "times": 9}})
            await me.say(f"wrong-{key}")
            await me.sees("Paste your OpenAI key", "OpenAI refused the key.", "Enter confirms")
            server.play(PING)
            await me.say(f"other-{key}")
            await me.until(lambda: server.headers[1:])
            await me.until(lambda: me.app.seat.settings.model == "openai:scripted")
            await me.sees("Logged in at OpenAI.")
            server.play({"text": f"I know other-{key}."})
            await me.say("what do you know?")
            await me.turn_ends(2)
            await me.sees("I know [redacted].")
            await me.say("/logout openai")
            await me.sees("Logged out of openai.")
            await me.say("/login compatible")
            await me.sees("Address of the server")
            await me.say("ftp://x")
            await me.sees("Address of the server", "“ftp://x” is not an address.", "Enter confirms")
            await me.press("backspace")
            assert me.app.screen.query_one(Input).value == "ftp://"  # written on, not over
            await me.press(*["backspace"] * len("ftp://"))
            server.play(PING)
            await me.say(server.url.removeprefix("http://"))
            await me.sees(f"Paste the key for {server.url}", "(empty: it needs")
            await me.press("enter")
            await me.until(lambda: me.app.seat.settings.model == "local:scripted")

    live(scene)
    (login,) = logins(bare)
    assert login.base_url == server.url


def test_logging_in_needs_the_name_of_a_model(environ, workspace, script, server):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("/login compatible")
            await me.sees("Address of the server")
            await me.say(f"{server.url}/without/a/list")
            await me.sees("Paste the key for")
            await me.press("enter")
            await me.sees("Which model?")
            await me.press("enter")
            await me.sees("Which model?", "Enter the name of a model.")
            await me.press("escape")
            await me.sees("Nothing was kept.")

    live(scene)
    assert not logins(environ)


def test_without_a_model_one_sees_the_demo_on_the_first_page(environ, workspace):
    async def scene():
        async with at_the_terminal(environ, workspace, wanted=Wanted(), approvals="never") as me:
            await me.sees("See the demo")
            await me.write("demo")
            await me.press("enter")
            await me.turn_ends()
            await me.sees("OK")
            assert me.app.seat.folder != str(workspace)

    live(scene)


def test_nothing_is_asked_over_the_demo(environ, workspace):
    async def scene():
        async with at_the_terminal(environ, workspace, wanted=Wanted(), approvals="review") as me:
            await me.sees("See the demo")
            await me.write("demo")
            await me.press("enter")
            await me.turn_ends()
            await me.sees("OK")
            assert len(me.app.screen_stack) == 1

    live(scene)


def test_the_last_thread_of_the_folder_is_offered(environ, workspace, script):
    async def first():
        async with at_the_terminal(environ, workspace, script(DONE), wanted=Wanted()) as me:
            await me.say("fix add")
            await me.turn_ends()

    async def then():
        async with at_the_terminal(environ, workspace, script(DONE), wanted=Wanted()) as me:
            await me.sees("“fix add”, just now; /continue opens it")
            await me.say("/continue")
            await me.sees("› fix add", "Done.")

    live(first)
    live(then)


def test_a_key_in_the_environment_is_offered_as_a_model(environ, workspace):
    async def scene():
        held = {**environ, "ANTHROPIC_API_KEY": "sk-nothing"}
        async with at_the_terminal(held, workspace, wanted=Wanted()) as me:
            await me.sees("Choose a model", "anthropic:")
            await me.press("enter")
            await me.until(lambda: me.app.seat.settings.model.startswith("anthropic:"))

    live(scene)


def test_the_first_page_says_that_work_is_reviewed_and_offers_to_ask_before(environ, workspace):
    held = {**environ, "ANTHROPIC_API_KEY": "sk-nothing"}

    async def scene():
        how = {"wanted": Wanted(), "approvals": "review"}
        async with at_the_terminal(held, workspace, **how) as me:
            await me.sees("Choose a model")
            await me.press("enter")
            await me.sees("Now: review", "You review changes when a turn ends", "on-request")
            await me.press("down", "enter")
            await me.until(lambda: me.app.seat.settings.approvals == "on-request")
            await me.until(lambda: len(me.app.screen_stack) == 1)

    live(scene)
    assert entry("approvals", str(workspace), held).source == "file"


def test_what_came_of_the_first_login_can_be_read_after_the_next_question(
    environ, workspace, server
):
    bare = {**environ, "PATH": "", "OPENAI_BASE_URL": f"{server.url}/v1"}
    server.play({"text": "I call no tools."})

    async def scene():
        how = {"wanted": Wanted(), "approvals": "review"}
        async with at_the_terminal(bare, workspace, **how) as me:
            await me.sees("Choose a model")
            await me.write("log in")
            await me.press("enter")
            await me.sees("Log in with a key of")
            await me.press("enter")
            await me.sees("Paste your OpenAI key")
            await me.say("words-of-nobody")
            await me.sees("When are you asked?")
            passing = me.app.screen_stack[0].query_one(Passing)
            for key in list(passing._said):  # whoever reads the question takes their time
                passing.withdraw(key)
            await me.press("escape")
            await me.sees("Logged in at OpenAI.", "It answered")

    live(scene)


def test_a_thread_that_is_not_there_is_told_of(environ, workspace, script):
    async def scene():
        wanted = Wanted(resume="zzzz")
        async with at_the_terminal(environ, workspace, script(DONE), wanted=wanted) as me:
            await me.sees("zzzz")
            await me.say("hello")
            await me.turn_ends()

    live(scene)


def test_a_thread_of_the_folder_is_chosen_from_a_list(environ, workspace, script):
    async def scene():
        model = script(DONE, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("the first thread")
            await me.turn_ends()
            thread = me.app.seat.id
        wanted = Wanted(choose=True, say="and more")
        async with at_the_terminal(environ, workspace, model, wanted=wanted) as me:
            await me.sees("Resume a thread", "the first thread")
            assert not me.app.seat.id
            await me.press("enter")
            await me.turn_ends(2)
            await me.sees("› the first thread", "› and more")
            assert me.app.seat.id == thread

    live(scene)


def test_words_of_the_command_line_are_said_first(environ, workspace, script):
    async def scene():
        wanted = Wanted(say="hello")
        async with at_the_terminal(environ, workspace, script(DONE), wanted=wanted) as me:
            await me.turn_ends()
            await me.sees("› hello", "Done.")

    live(scene)


def test_a_defect_ends_the_application_and_keeps_the_thread(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("hello")
            await me.turn_ends()
            thread = me.app.seat.id
            me.app.call_later(lambda: 1 / 0)
            await me.until(lambda: not me.app.is_running)
            assert isinstance(me.app.defect, ZeroDivisionError)
            assert len(list(me.app.seat.host.messages(thread))) > 3

    with suppress(ZeroDivisionError):  # the pilot tells of it as well
        live(scene)


def test_settings_are_shown_with_their_sources_and_one_is_set(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE), size=(120, 40)) as me:
            await me.say("/config")
            await me.sees("Settings: choose one to change", "approvals", "(default)")
            await me.write("max_steps")
            await me.press("enter")
            await me.sees("max_steps is 2500 (default). New value")
            await me.say("-3")
            await me.sees("“-3” is not valid for max_steps.")
            await me.say("/config mode plan")
            await me.until(lambda: me.app.seat.settings.mode == "plan")

    live(scene)
    own = Path(environ["XDG_CONFIG_HOME"], "steersman", "config.toml")
    assert own.read_text() == 'mode = "plan"\n'
