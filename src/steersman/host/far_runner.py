"""Threads that run here and work in a folder of another machine: how they are taken up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from steersman.host.masking import Secrets
from steersman.host.opening import Opening
from steersman.host.reaching import reach
from steersman.operations.journal.objects import Objects
from steersman.operations.workspace import Workspace
from steersman.records.errors import UsageProblem
from steersman.records.far import NOWHERE, far, refuse_foreign
from steersman.records.hooks import BLOCKERS
from steersman.records.settings import Settings
from steersman.records.thread import Lease, Thread
from steersman.store.redactor import Redactor, readable
from steersman.threads.live import LivePieces
from steersman.threads.remote.answering import Reach
from steersman.threads.remote.far_log import FarBlobs
from steersman.threads.session import Session
from steersman.threads.systems import Setup
from steersman.threads.thinking import Mind

if TYPE_CHECKING:
    from steersman.host.runner import Runner, Title


class FarRunner:
    """Takes up threads for a runner, over a line to the agent where the files are."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def check(self, address: str, title: str, settings: Settings, *, thinks: bool) -> Title:
        """Find out whether work can begin there, before there is a thread for it."""
        from steersman.host.runner import Title

        far(address)
        _fit(settings)
        if thinks:
            await (await asyncio.to_thread(self._runner.mind, settings, title)).close()
        redactor = await asyncio.to_thread(self._redactor, settings)
        return Title(address, redactor.text(readable(title)))

    async def take_up(self, thread: Thread, opening: Opening, address: str) -> None:
        """Run a thread; the agent is reached first, so that nothing is said when it cannot be."""
        runner, store = self._runner, self._runner.store
        if not opening.folder:  # nobody here named it
            refuse_foreign(imported=thread.imported)
        _fit(opening.settings)
        lease = await asyncio.to_thread(store.lease, thread.id)
        mind: Mind | None = None
        try:
            line = reach(address, runner.environ)
            await line.open()
            try:
                opening = await asyncio.to_thread(runner.going_on, thread, opening, lease)
                if opening.thinks:
                    mind = await asyncio.to_thread(runner.mind, opening.settings, thread.title)
                if opening.folder:
                    await asyncio.to_thread(
                        lambda: store.describe(thread.id, title=None, workspace=address)
                    )
                await self._begin(thread, line, mind, opening, lease)
            except BaseException:
                await line.close()
                raise
        except BaseException:
            await asyncio.to_thread(store.release, lease)
            raise

    async def _begin(
        self, thread: Thread, line: Reach, mind: Mind | None, opening: Opening, lease: Lease
    ) -> None:
        runner = self._runner
        await runner.newsroom.open()
        live = LivePieces(lambda pieces: runner.show(thread.id, pieces), runner.store.listened)
        redactor = await asyncio.to_thread(self._redactor, opening.settings)
        log = await asyncio.to_thread(runner.log, thread.id, redactor, lease, live)
        setup = self._setup(line, opening, thread.id, redactor)
        await runner.run(thread, Session(log, setup, mind), opening, lease, live)

    def _redactor(self, settings: Settings) -> Redactor:
        return Secrets(NOWHERE, self._runner.environ, self._runner.home, settings).redactor()

    def _setup(self, line: Reach, opening: Opening, thread: str, redactor: Redactor) -> Setup:
        runner, permissions = self._runner, self._runner.permissions
        root, home = line.entered.root, line.entered.home
        rules = permissions.far_rules(root, home, opening.settings)
        place = (line.address, root, home)
        return Setup(
            settings=opening.settings,
            workspace=Workspace(root),
            environ={},
            objects=Objects(runner.home / "objects", FarBlobs(line.line)),
            state=str(runner.home),
            home=home,
            private=(),
            cache="",
            rules=permissions.book(rules, home),
            memory=permissions.far_memory(place, thread, redactor.text, rules),
            surroundings=runner.environ,
            resources=runner.resources,
            resolved=_fit,
            trusted=False,
            exceptions=(),
            attended=opening.attended,
            questions=opening.questions,
            yes=opening.yes,
            client=opening.client,
            think=runner.mind,
            keep=lambda session: runner.changed(thread, session, opening.yes, redactor),
            reach=line,
        )


def _fit(settings: Settings) -> Settings:
    """Settings, unless they have what cannot hold there: folders that are here, a hook's no."""
    if settings.add_dir:
        raise UsageProblem(
            "Folders cannot be added to a workspace on another machine.",
            try_this="Leave --add-dir out, or open the folder above both as the workspace.",
        )
    if blocking := sorted(BLOCKERS & settings.hooks.keys()):
        raise UsageProblem(
            "Your hooks are not run for a workspace on another machine.",
            f"{' and '.join(blocking)} could say no, and nobody would hear it.",
            "Take these hooks out of your config.toml while you work there.",
        )
    return settings
