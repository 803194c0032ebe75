CREATE TABLE threads (
    id         TEXT PRIMARY KEY,
    title      TEXT NOT NULL,
    workspace  TEXT NOT NULL,
    origin     TEXT NOT NULL,
    parent     TEXT,
    parent_seq BIGINT,
    created    TEXT NOT NULL,
    updated    TEXT NOT NULL,
    head       BIGINT NOT NULL,
    head_hash  BLOB NOT NULL
);

CREATE INDEX threads_by_update ON threads (updated);

CREATE TABLE messages (
    thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    seq    BIGINT NOT NULL,
    time   TEXT NOT NULL,
    turn   BIGINT NOT NULL,
    kind   TEXT NOT NULL,
    path   TEXT NOT NULL,
    corr   TEXT,
    body   BLOB NOT NULL,
    hash   BLOB NOT NULL,
    PRIMARY KEY (thread, seq)
);

CREATE INDEX receipts ON messages (thread, seq) WHERE kind = 'steer';

CREATE TABLE blobs (
    digest TEXT PRIMARY KEY,
    data   BLOB NOT NULL
);

CREATE TABLE settings (
    scope TEXT NOT NULL,
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (scope, name)
);
