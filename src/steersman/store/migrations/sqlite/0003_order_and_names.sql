CREATE TABLE placed (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    thread   TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    seq      BIGINT NOT NULL,
    time     TEXT NOT NULL,
    turn     BIGINT NOT NULL,
    kind     TEXT NOT NULL,
    path     TEXT NOT NULL,
    corr     TEXT,
    body     BLOB NOT NULL,
    hash     BLOB NOT NULL,
    UNIQUE (thread, seq)
);

INSERT INTO placed
SELECT rowid, thread, seq, time, turn, kind, path, corr, body, hash FROM messages ORDER BY rowid;

DROP TABLE messages;

ALTER TABLE placed RENAME TO messages;

CREATE INDEX receipts ON messages (thread, seq) WHERE kind = 'steer';

CREATE TABLE names (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    given DOUBLE PRECISION NOT NULL
);

INSERT INTO names
SELECT scope || ' ' || name, value, CAST(strftime('%s', 'now') AS REAL) FROM settings
WHERE scope IN ('named', 'created', 'called');

DELETE FROM settings WHERE scope IN ('named', 'created', 'called');
