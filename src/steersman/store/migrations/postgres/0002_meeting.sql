ALTER TABLE threads ADD COLUMN activity BYTEA;

CREATE TABLE processes (
    id      TEXT COLLATE "C" PRIMARY KEY,
    machine TEXT NOT NULL,
    pid     BIGINT NOT NULL,
    place   TEXT NOT NULL,
    seen    DOUBLE PRECISION NOT NULL
);

CREATE TABLE leases (
    fence   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name    TEXT COLLATE "C" NOT NULL UNIQUE,
    process TEXT COLLATE "C" NOT NULL,
    ttl     DOUBLE PRECISION NOT NULL
);

CREATE INDEX leases_by_process ON leases (process);

CREATE TABLE requests (
    number  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id      TEXT COLLATE "C" NOT NULL UNIQUE,
    thread  TEXT COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    sender  TEXT NOT NULL,
    time    TEXT NOT NULL,
    expires TEXT COLLATE "C",
    body    BYTEA,
    outcome TEXT,
    reason  TEXT NOT NULL DEFAULT '',
    result  BYTEA,
    logged  INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX requests_by_thread ON requests (thread);

CREATE INDEX inbox ON requests (thread, number) WHERE logged = 0;
