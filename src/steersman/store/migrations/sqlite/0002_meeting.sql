ALTER TABLE threads ADD COLUMN activity BLOB;

CREATE TABLE processes (
    id      TEXT PRIMARY KEY,
    machine TEXT NOT NULL,
    pid     BIGINT NOT NULL,
    place   TEXT NOT NULL,
    seen    DOUBLE PRECISION NOT NULL
);

CREATE TABLE leases (
    fence   INTEGER PRIMARY KEY AUTOINCREMENT,
    name    TEXT NOT NULL UNIQUE,
    process TEXT NOT NULL,
    ttl     DOUBLE PRECISION NOT NULL
);

CREATE INDEX leases_by_process ON leases (process);

CREATE TABLE requests (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    id      TEXT NOT NULL UNIQUE,
    thread  TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    sender  TEXT NOT NULL,
    time    TEXT NOT NULL,
    expires TEXT,
    body    BLOB,
    outcome TEXT,
    reason  TEXT NOT NULL DEFAULT '',
    result  BLOB,
    logged  INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX requests_by_thread ON requests (thread);

CREATE INDEX inbox ON requests (thread, number) WHERE logged = 0;
