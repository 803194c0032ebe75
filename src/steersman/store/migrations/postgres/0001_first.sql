CREATE TABLE threads (
    id         TEXT COLLATE "C" PRIMARY KEY,
    title      TEXT NOT NULL,
    workspace  TEXT NOT NULL,
    origin     TEXT NOT NULL,
    parent     TEXT,
    parent_seq BIGINT,
    created    TEXT NOT NULL,
    updated    TEXT COLLATE "C" NOT NULL,
    head       BIGINT NOT NULL,
    head_hash  BYTEA NOT NULL
);

CREATE INDEX threads_by_update ON threads (updated);

CREATE TABLE messages (
    thread TEXT COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    seq    BIGINT NOT NULL,
    time   TEXT NOT NULL,
    turn   BIGINT NOT NULL,
    kind   TEXT NOT NULL,
    path   TEXT NOT NULL,
    corr   TEXT,
    body   BYTEA NOT NULL,
    hash   BYTEA NOT NULL,
    PRIMARY KEY (thread, seq)
);

CREATE INDEX receipts ON messages (thread, seq) WHERE kind = 'steer';

CREATE TABLE blobs (
    digest TEXT COLLATE "C" PRIMARY KEY,
    data   BYTEA NOT NULL
);

CREATE TABLE settings (
    scope TEXT COLLATE "C" NOT NULL,
    name  TEXT COLLATE "C" NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (scope, name)
);
