"""What a client asks in its own name goes through the inbox, also where this process takes it."""

import asyncio
from pathlib import Path

from steersman.host import Host
from steersman.host.posting import By
from steersman.records.settings import Settings

PATIENCE = 120


def test_what_a_client_asks_is_answered_when_it_is_done(environ, workspace, script, monkeypatch):
    # The owner of a request is looked for again after a while; nobody should have to wait for that.
    monkeypatch.setattr("steersman.host.posting.TICK", 10 * PATIENCE)
    settings = Settings(model=script({"text": "Done."}), approvals="never")

    async def scenario():
        home = Path(environ["STEERSMAN_HOME"])
        async with asyncio.timeout(PATIENCE), Host.at(home, environ) as host:
            own = await host.start(str(workspace), "a task", settings, attended=True)
            theirs = await host.attach(own.id, settings, by=By("a client"), attended=True)
            assert theirs.here
            return await theirs.send("Do it.")

    assert asyncio.run(scenario()) == 1
