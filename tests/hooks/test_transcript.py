"""A hook reads the conversation so far in the file that `transcript_path` names."""

import json
import os
import stat
from pathlib import Path

import pytest

from steersman.records.settings import Settings
from tests.cli.kit import DONE, READ, shell
from tests.hooks.kit import hook, play, runs, worked
from tests.world import call

COPY = 'cp "$(jq -r .transcript_path)" transcript.txt'
PRINT = 'cat "$(jq -r .transcript_path)" >&2'


def lines(workspace):
    return [json.loads(line) for line in (workspace / "transcript.txt").read_text().splitlines()]


def test_a_hook_reads_the_conversation_in_the_shape_that_claude_code_has(
    environ, workspace, script
):
    wrong = call("workspace_read_file", path="nowhere.txt")
    model = script({"text": "Looking.", "tool_calls": [READ, wrong]}, {"text": "Done."})

    async def scenario(host):
        thread = await worked(host, workspace, model, "fix it", hooks=hook("Stop", COPY))
        (ran,) = runs(host, thread)
        assert (ran.exit, ran.problem) == (0, "")
        return thread.id

    thread = play(environ, scenario)
    found = lines(workspace)
    assert {line["sessionId"] for line in found} == {thread}
    assert {line["cwd"] for line in found} == {str(workspace)}
    assert [line["parentUuid"] for line in found] == [None, *(li["uuid"] for li in found[:-1])]
    said = [(line["type"], line["message"]["content"]) for line in found]
    asked, looking, read, missing, *results, done = said
    # Both calls only read, so they are carried out together and end in any order.
    ended = {one[1][0]["tool_use_id"]: one for one in results}
    content, problem = (ended[one[1][0]["id"]] for one in (read, missing))
    assert asked == ("user", "fix it")
    assert looking == ("assistant", [{"type": "text", "text": "Looking."}])
    assert (read[1][0]["type"], read[1][0]["name"]) == ("tool_use", "Read")
    assert read[1][0]["input"] == {"file_path": str(workspace / "calc.py")}
    assert missing[1][0]["input"] == {"file_path": str(workspace / "nowhere.txt")}
    assert "return a - b" in content[1][0]["content"]
    assert "is_error" not in content[1][0]
    assert problem[1][0]["is_error"] is True
    assert done == ("assistant", [{"type": "text", "text": "Done."}])


def test_the_file_grows_with_the_conversation_and_is_whole_after_a_restart(
    environ, workspace, script
):
    model = script(DONE, DONE, DONE)
    how = {"hooks": hook("Stop", "jq -r .transcript_path | xargs jq -c .message.content >&2")}
    done = '[{"type":"text","text":"Done."}]'

    async def begin(host):
        thread = await worked(host, workspace, model, "first", **how)
        await thread.send("second")
        await thread.wait()
        assert runs(host, thread)[-1].output.split("\n") == ['"first"', done, '"second"', done]
        return thread.id

    async def go_on(host):
        thread = await host.open(name, Settings(model=model, approvals="never", **how))
        await thread.send("third")
        await thread.wait()
        return runs(host, thread)[-1].output.split("\n")

    name = play(environ, begin)
    assert play(environ, go_on)[::2] == ['"first"', '"second"', '"third"']


def test_it_is_private_and_only_there_when_a_hook_was_run(environ, workspace, script):
    home = Path(environ["STEERSMAN_HOME"])
    model = script(DONE)

    async def without(host):
        await worked(host, workspace, model)

    async def with_one(host):
        await worked(host, workspace, model, hooks=hook("Stop", "true"))

    play(environ, without)
    assert list(home.rglob("transcript.jsonl")) == []
    play(environ, with_one)
    (file,) = home.rglob("transcript.jsonl")
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600


def test_secrets_are_masked_in_it(environ, workspace, script):
    secret = "sk-ant-api03-" + "a1B2c3D4" * 8
    model = script({"tool_calls": [shell(f"echo {secret}")]}, DONE)

    async def scenario(host):
        await worked(host, workspace, model, hooks=hook("Stop", COPY))

    play(environ, scenario)
    text = (workspace / "transcript.txt").read_text()
    assert "echo" in text
    assert secret not in text
    assert "[redacted]" in text


@pytest.mark.parametrize("mode", ["ask", "plan"])
def test_it_is_read_where_nothing_is_changed(environ, workspace, script, mode):
    async def scenario(host):
        hooks = hook("Stop", PRINT)
        thread = await worked(host, workspace, script(DONE), "look", mode=mode, hooks=hooks)
        (ran,) = runs(host, thread)
        assert ran.exit == 0
        assert '"content":"look"' in ran.output

    play(environ, scenario)


def test_a_command_of_the_agent_does_not_see_it(environ, workspace, script):
    home = environ["STEERSMAN_HOME"]
    model = script({"tool_calls": [READ]}, {"tool_calls": [shell(f"find {home} | wc -l")]}, DONE)

    async def scenario(host):
        thread = await worked(host, workspace, model, hooks=hook("PostToolUse", "true", "Read"))
        return [m.body.output for m in host.messages(thread.id) if m.kind == "tool_result"]

    _, found = play(environ, scenario)
    assert int(found["output"].split()[-1]) <= 1
    assert list(Path(home).rglob("transcript.jsonl"))
