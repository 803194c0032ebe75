"""Names that stand for one thing each, so that what is asked twice under one is done once."""

import time
from datetime import timedelta

from steersman.store.contract import stamp
from steersman.store.sql import Database, Tables

REPEATED = 7 * 86_400  # seconds for which what is asked again is known
_OFTEN = 86_400  # seconds until a process looks for older ones again
_HAS = "SELECT value FROM names WHERE name = ?"


class Names(Tables):
    """Names and what each was given to; the inbox has those of its requests itself."""

    _next_look = 0.0  # for what is so old that nobody asks again

    def claim(self, name: str, value: str) -> str:
        """Give a name to something unless it has been given; the answer is what has it."""

        def give(db: Database) -> str:
            self._forget_old(db)
            db.execute(
                "INSERT INTO names VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
                (name, value, self._wall(db).timestamp()),
            )
            return str(db.execute(_HAS, (name,)).fetchone()[0])

        return self._write(give)

    def claimed(self, name: str) -> str | None:
        """What has a name."""
        found = self._read(lambda db: db.execute(_HAS, (name,)).fetchone())
        return None if found is None else str(found[0])

    def _forget_old(self, db: Database) -> None:
        """Let go of names, and of requests that were settled, wherever another name is taken."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _OFTEN
        until = self._wall(db) - timedelta(seconds=REPEATED)
        db.execute("DELETE FROM names WHERE given < ?", (until.timestamp(),))
        db.execute("DELETE FROM requests WHERE logged = 1 AND time < ?", (stamp(until),))
