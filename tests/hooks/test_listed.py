"""`/hooks` and what the log shows of hooks; whose end a hook runs at."""

from steersman.records.message import HookRun
from steersman.records.settings import Settings
from steersman.store.log import Lane
from steersman.views.text import words
from tests.cli.kit import DONE, FIX
from tests.hooks.kit import hook, opened, play, runs, trust, with_claude_files, worked


def test_hooks_are_listed_with_where_they_come_from_and_how_they_ended(environ, workspace, script):
    with_claude_files(workspace)
    model = script({"tool_calls": [FIX]}, DONE)
    own = hook("PreToolUse", "echo no >&2; exit 2", "Edit")

    async def scenario(host):
        from steersman.host.hooks import known

        settings = Settings(model=model, hooks=own)
        before = known(host, str(workspace), settings)
        assert [one.source for one, _ in before.hooks] == ["your settings"]
        assert before.unused
        trust(host, workspace)
        thread = await worked(host, workspace, model, hooks=own)
        after = known(host, str(workspace), settings, thread.id)
        assert not after.unused
        assert after.problems == ()
        assert len(after.hooks) == 9
        (mine, last), *_ = after.hooks
        assert (mine.matcher, last.body.decision, last.body.reason) == ("Edit", "deny", "no")

    play(environ, scenario)


def test_a_hook_is_a_line_of_the_ledger():
    ran = HookRun("PreToolUse", "check.sh", "here", "Bash", "Bash", 2, 12, "deny", "not now")
    assert words(ran) == "hook PreToolUse (check.sh): deny · not now"
    failed = HookRun("Stop", "check.sh", "here", problem="exit code 1")
    assert words(failed) == "hook Stop (check.sh): failed: exit code 1"
    assert words(HookRun("Stop", "check.sh", "here")) == "hook Stop (check.sh): done"


def test_an_agent_that_works_for_another_has_its_own_event(environ, workspace, script):
    """What runs at the end of a capsule's turn knows by its lane whose end that is."""
    kept = {
        event: [{"hooks": [{"type": "command", "command": f"echo {event} >&2; exit 2"}]}]
        for event in ("Stop", "SubagentStop")
    }

    async def scenario(host):
        thread = await opened(host, workspace, script(DONE), hooks=kept)
        session = host.session(thread.id)
        lane = Lane(session.log, "steersman/operations/mate", 1)
        assert await session._systems.hooks.stop(lane) is True
        return [(one.event, one.context) for one in runs(host, thread)]

    assert play(environ, scenario) == [("SubagentStop", "SubagentStop")]
