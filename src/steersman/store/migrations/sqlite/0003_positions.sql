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
