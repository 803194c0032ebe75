"""Package managers and their registries: one question the first time in a folder, none after."""

import asyncio
from pathlib import Path

from steersman.host import Host
from steersman.host.policy import rules
from steersman.identity.settings import Settings
from steersman.records.message import ConfirmRequest, ConfirmResponse, ToolResult
from tests.world import call

NAMED = "pkgs.steersman.invalid"
PIP = f"""#!/bin/sh
curl -sS https://{NAMED}/simple/ & curl -sS https://more.steersman.invalid/
wait
"""
INSTALL = call("workspace_run_command", command=".venv/bin/pip install -r requirements.txt")
CURL = call("workspace_run_command", command=f"curl -sS https://{NAMED}/")


def test_registries_are_one_question_in_a_folder_and_for_installations_only(
    environ, workspace, script
):
    (workspace / ".venv/bin").mkdir(parents=True)
    (workspace / ".venv/bin/pip").write_text(PIP)
    (workspace / ".venv/bin/pip").chmod(0o755)
    lines = f"--index-url https://{NAMED}/simple\nx @ https://more.steersman.invalid/x.whl\n"
    (workspace / "requirements.txt").write_text(lines)
    model = script({"tool_calls": [INSTALL]}, {"tool_calls": [CURL]}, {"text": "Done."})
    again = script({"tool_calls": [INSTALL]}, {"text": "Done."}, name="again.json")

    async def played(host: Host, model: str, *answers: ConfirmResponse):
        settings = Settings(model=model, approvals="on-request")
        thread = await host.start(str(workspace), "a task", settings, attended=True)
        left, asked = list(answers), []

        async def answer() -> None:
            async for message in thread.events():
                if isinstance(message.body, ConfirmRequest):
                    asked.append(message.body)
                    await thread.answer(message.corr or "", left.pop(0))

        answering = asyncio.create_task(answer())
        await thread.send("go")
        await thread.wait()
        await thread.close()
        await answering
        bodies = [message.body for message in host.messages(thread.id)]
        return asked, [body for body in bodies if isinstance(body, ToolResult)]

    async def whole():
        async with asyncio.timeout(120), Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            keep = ConfirmResponse("allow", scope="here", lasting="same")
            first = await played(host, model, keep, ConfirmResponse("deny"))
            second, kept = await played(host, again), rules(host, str(workspace), Settings())
            settings = Settings(model=again, approvals="on-request")
            host.permissions.forget_all()
            yes = await host.start(str(workspace), "a task", settings, yes=True)
            await yes.send("go")
            await yes.wait()
            said = [message.body for message in host.messages(yes.id)]
            return first, second, kept, [one for one in said if isinstance(one, ConfirmRequest)]

    ((one, other), results), (none, second), kept, new = asyncio.run(whole())
    assert "letting package managers reach the registries that this project names" in one.reason
    assert f"(more.steersman.invalid, {NAMED}) needs your approval" in one.reason
    assert other.actions[0].registries == ()  # a command that is no installation
    assert "502" in results[0].output["output"]  # allowed, and there is no such host
    assert "403" in results[1].output["output"]
    assert none == []
    assert len(new) == 1  # two hosts, and an answer that nobody remembers
    assert "502" in second[0].output["output"]
    told = [shown.about for shown in kept if shown.rule.source == "here"]
    assert f"package managers' connections to {NAMED}" in told  # and can be forgotten
