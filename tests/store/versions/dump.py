"""Writes the dump of the present version: `python -m tests.store.versions.dump`.

Run it once when a schema version is finished. A dump is never written again: it stands for the
databases that people have.
"""

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from steersman.bus import Bus
from steersman.records.action import Execute, Read, Verdict
from steersman.records.inbox import Cancel, Reply, Request, Send, Settled
from steersman.records.message import (
    Answer,
    Assistant,
    Body,
    ConfirmRequest,
    ConfirmResponse,
    Error,
    Policy,
    SessionEnd,
    SessionStart,
    Steer,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    User,
)
from steersman.records.thread import Activity, Thread, Waiting
from steersman.store.contract import stamp
from steersman.store.log import Draft, ThreadLog
from steersman.store.migrations import LATEST
from steersman.store.redactor import Redactor
from steersman.store.sqlite import SqliteStore

FOLDER = Path(__file__).parent
START = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
COMMAND = Execute("python3 -m unittest", "/srv/harbour")
ALLOW = Verdict("allow", "paths.inside", "looking inside the workspace")
ASK = Verdict("ask", "approvals.on-request", "a command needs a person's word")

Said = tuple[Body, str | None]
WHOLE: list[Said] = [
    (SessionStart("0.1.0", "/srv/harbour", "scripted:x", "code", "sandboxed", "on-request"), None),
    (TurnStart(), None),
    (User("Mend the fees — “bitte”, 請, \U0001f6a2"), None),
    (Assistant("Looking.", "hm", ("call_1", "call_2"), "tool_calls"), None),
    (ToolCall("workspace_read_file", {"path": "fees.py"}), "call_1"),
    (ToolCall("workspace_run_command", {"command": COMMAND.command}), "call_2"),
    (Policy(Read("/srv/harbour/fees.py"), ALLOW), "call_1"),
    (ToolResult("workspace_read_file", "ok", {"content": "1\tdef fee():\n"}, ms=3), "call_1"),
    (Policy(COMMAND, ASK), "call_2"),
    (ConfirmRequest("call_2", "workspace_run_command", (COMMAND,), ASK.reason), "ask_1"),
    (ConfirmResponse("allow", "but only once"), "ask_1"),
    (Steer("waiting", "steer", "and the tests"), "in_1"),
    (ToolResult("workspace_run_command", "ok", {"exit_code": 0, "output": ""}), "call_2"),
    (Steer("delivered", "steer"), "in_1"),
    (User("and the tests", "steer"), "in_1"),
    (Assistant("Done."), None),
    (TurnEnd("done", 2), None),
    (SessionEnd("done", 0), None),
]
CUT_OFF: list[Said] = [
    *WHOLE[:6],
    (Steer("queued", "queue", "later"), "in_2"),
    (Error("The model answered with status 429.", "slow down", retry_in=1.5), None),
]


def main() -> None:
    """Fill a database and write it down."""
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder))
        asyncio.run(fill(store))
        store.close()
        connection = sqlite3.connect(Path(folder) / "steersman.db")
        lines = [*connection.iterdump(), f"PRAGMA user_version={LATEST};"]
        connection.close()
    (FOLDER / f"v{LATEST:04d}.sql").write_text("\n".join(lines) + "\n", encoding="utf-8")


async def fill(store: SqliteStore) -> None:
    """A whole thread, one that was cut off, an empty one, blobs, settings and an inbox."""
    ticks = count()
    with ThreadPoolExecutor(1) as writer:
        for name, said in (("wh4kestu2n", WHOLE), ("ct7ffgrm3p", CUT_OFF), ("emp9ty5hrx", [])):
            fork = name == "ct7ffgrm3p"
            thread = Thread(
                id=name,
                title=f"Thread {name[:2]}",
                workspace="/srv/harbour",
                origin="fork" if fork else "run",
                created=START,
                updated=START,
                parent="wh4kestu2n" if fork else None,
                parent_seq=6 if fork else None,
            )
            store.create_thread(thread)
            found = store.thread(name)
            assert found is not None
            log = ThreadLog(
                store,
                Bus(),
                found,
                redactor=Redactor(),
                executor=writer,
                clock=lambda: START + timedelta(milliseconds=250 * next(ticks)),
            )
            for body, corr in said:
                await log.append(Draft(body, "steersman", turn=1, corr=corr))
    store.put_blob(b"")
    store.put_blob(bytes(range(256)))
    store.remember("thread:wh4kestu2n", "model", "scripted:x")
    waiting = (Waiting("ask_7", "question", "Which port?"),)
    store.append("ct7ffgrm3p", [], sync=True, activity=Activity(1, 2, stamp(START), waiting))
    for number, body in enumerate((Send("go on"), Cancel(), Reply("ask_7", Answer("8080"))), 1):
        store.post(Request(f"rq_{number}", "ct7ffgrm3p", "a test", START, body))
    store.append("ct7ffgrm3p", [], sync=True, settled=[Settled("rq_1", "refused", "busy")])
    store.expire("rq_2")


if __name__ == "__main__":
    main()
