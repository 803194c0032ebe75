"""What is asked in a name goes through the inbox, also in the process that runs the thread."""

import asyncio

from steersman.host import posting
from steersman.host.posting import By
from steersman.records.message import RequestReceipt
from steersman.records.settings import Settings
from tests.hooks.kit import play


def test_who_asks_the_own_process_learns_at_once_what_became_of_it(
    environ, workspace, script, monkeypatch
):
    monkeypatch.setattr(posting, "TICK", 3600.0)  # nothing is found by looking again
    settings = Settings(model=script({"text": "Done."}), approvals="never")

    async def scenario(host):
        thread = await host.start(str(workspace), "a task", settings)
        asker = await host.attach(thread.id, settings, by=By("someone (HTTP)"))
        async with asyncio.timeout(60):
            result = await asker.call("workspace_read_file", {"path": "README.md"}, "call_one")
        return result.body.status, [
            m.body.sender for m in host.messages(thread.id, kinds={RequestReceipt.kind})
        ]

    assert play(environ, scenario) == ("ok", ["someone (HTTP)"])
