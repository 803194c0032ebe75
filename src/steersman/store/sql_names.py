"""Names that stand for one thing each, so that what is asked twice under one is done once."""

from datetime import timedelta

from steersman.store.contract import stamp
from steersman.store.sql import Database, Tables

_HAS = "SELECT value FROM names WHERE name = ?"


class Names(Tables):
    """Names and what each was given to; the inbox has those of its requests itself."""

    def claim(self, name: str, value: str) -> str:
        """Give a name to something unless it has been given; the answer is what has it."""

        def give(db: Database) -> str:
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

    def forget_names(self, age: float) -> int:
        """Let go of names, and of requests that were settled, older than so many seconds."""

        def forget(db: Database) -> int:
            until = self._wall(db) - timedelta(seconds=age)
            names = db.execute("DELETE FROM names WHERE given < ?", (until.timestamp(),))
            query = "DELETE FROM requests WHERE logged = 1 AND time < ?"
            return names.rowcount + db.execute(query, (stamp(until),)).rowcount

        return self._write(forget)
