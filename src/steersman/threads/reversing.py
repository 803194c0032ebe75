"""Carrying out an undo or a redo that was planned: through the gate, into the log, to the disk."""

import asyncio

from steersman.governance.gate import Permit
from steersman.operations.journal.undoing import refuse_outdated, specials
from steersman.operations.running.git_index import entries_of
from steersman.operations.running.specials import in_the_way
from steersman.records.action import PERSON, Verdict
from steersman.records.errors import Denied
from steersman.records.message import Checkpoint
from steersman.records.undo import UndoPlan
from steersman.store.log import Lane, read_messages
from steersman.threads.systems import ThreadSystems


async def reverse(systems: ThreadSystems, plan: UndoPlan, force: bool, lane: Lane) -> int:
    """Change files as a plan says, unless the log has moved on since; gives the place there."""
    log, journal = lane.log, systems.journal
    actions = await asyncio.to_thread(journal.actions, plan.changes, "person")
    verdict = await systems.gate.admit(f"{plan.cause}_{log.head}", plan.cause, actions, lane)
    if not isinstance(verdict, Permit):
        if not isinstance(verdict, Verdict):
            verdict = Verdict("deny", PERSON, f"the {plan.cause} was not approved as a whole")
        raise Denied(f"Denied: {verdict.reason}.", verdict.source)

    def checked() -> list[str]:
        points = read_messages(log.store, log.thread, kinds={"checkpoint"})
        entries = entries_of(journal, points)
        refuse_outdated(entries, plan)
        left = specials(entries)
        return [path for path in in_the_way(journal.root, plan.changes) if path in left]

    remove = await asyncio.to_thread(checked)
    own = plan.own if plan.parts else ()
    body = Checkpoint(plan.cause, plan.changes, undoes=plan.undoes, parts=plan.parts, own=own)
    return await journal.make(body, lane, None, remove=remove, check=not force)
