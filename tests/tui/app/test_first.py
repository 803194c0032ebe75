"""What comes before the first word: trust of the folder, a model, and what goes wrong."""

import json
from contextlib import suppress

from steersman.ports.tui.first import Wanted
from tests.cli.kit import DONE
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


def test_escape_leaves_the_question_for_later(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE), wanted=Wanted()) as me:
            await me.sees("Do you trust this folder?")
            await me.press("escape")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            assert me.app.seat.host.permissions.folder(str(workspace)).state == "unknown"

    bring_servers(workspace)
    live(scene)


def test_without_a_model_the_screen_says_what_to_do(environ, workspace, monkeypatch):
    monkeypatch.setattr("steersman.intelligence.discovery.SERVERS", ())

    async def scene():
        async with at_the_terminal(environ, workspace, wanted=Wanted()) as me:
            await me.sees("There is no model yet", "steer doctor")
            await me.press("escape")
            await me.say("hello")
            await me.sees("No model was chosen.")
            assert me.app.seat.id == ""

    live(scene)


def test_a_key_in_the_environment_is_offered_as_a_model(environ, workspace):
    async def scene():
        held = {**environ, "ANTHROPIC_API_KEY": "sk-nothing"}
        async with at_the_terminal(held, workspace, wanted=Wanted()) as me:
            await me.sees("Choose a model", "anthropic:")
            await me.press("enter")
            await me.until(lambda: me.app.seat.settings.model.startswith("anthropic:"))

    live(scene)


def test_a_thread_that_is_not_there_is_told_of(environ, workspace, script):
    async def scene():
        wanted = Wanted(resume="zzzz")
        async with at_the_terminal(environ, workspace, script(DONE), wanted=wanted) as me:
            await me.sees("zzzz")
            await me.say("hello")
            await me.turn_ends()

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
