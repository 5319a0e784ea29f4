-- Schema 1. Times are milliseconds since 1970-01-01 UTC; hashes are BLAKE3, 32 bytes.

-- One row for each time a process opened the journal to write.
CREATE TABLE opening (
    number       INTEGER PRIMARY KEY,
    opened_at_ms INTEGER NOT NULL,
    closed_at_ms INTEGER,             -- NULL: still open, or the process was killed
    boot_id      TEXT    NOT NULL,
    process_id   INTEGER NOT NULL
) STRICT;

-- Quarantined databases: damaged and renamed, reported until the loss is acknowledged.
CREATE TABLE set_aside (
    number             INTEGER PRIMARY KEY,
    name               TEXT    NOT NULL UNIQUE,
    found_at_ms        INTEGER NOT NULL,
    acknowledged_at_ms INTEGER
) STRICT;

CREATE TABLE run (
    number         INTEGER PRIMARY KEY,
    conversation   TEXT    NOT NULL,
    sequence       INTEGER NOT NULL,  -- 64 bits, stored as a signed number
    content        BLOB    NOT NULL CHECK (length(content) = 32),
    began_at_ms    INTEGER NOT NULL,
    finished_at_ms INTEGER,
    outcome        BLOB,
    UNIQUE (conversation, sequence, content),
    CHECK ((finished_at_ms IS NULL) = (outcome IS NULL))
) STRICT;
CREATE INDEX run_by_content ON run (conversation, content);
CREATE INDEX run_unfinished ON run (number) WHERE finished_at_ms IS NULL;

CREATE TABLE step (
    run            INTEGER NOT NULL REFERENCES run,
    step_index     INTEGER NOT NULL,  -- 0-based
    kind           TEXT    NOT NULL CHECK (kind IN ('file-change', 'shell-command', 'reading')),
    description    TEXT    NOT NULL,
    opening        INTEGER NOT NULL REFERENCES opening,
    started_at_ms  INTEGER NOT NULL,
    finished_at_ms INTEGER,
    outcome        BLOB,              -- NULL: started, and nobody knows how it ended
    PRIMARY KEY (run, step_index),
    CHECK ((finished_at_ms IS NULL) = (outcome IS NULL))
) STRICT;

-- The change of one path by a step. At most one kind is NULL, which means that the path did not exist.
-- A kind without a content hash means that the content is unknown.
CREATE TABLE change (
    number              INTEGER PRIMARY KEY AUTOINCREMENT,
    run                 INTEGER NOT NULL,
    step_index          INTEGER NOT NULL,
    path                BLOB    NOT NULL,
    before_kind         TEXT CHECK (before_kind IN ('file', 'symlink', 'folder')),
    before_content      BLOB,
    before_length_bytes INTEGER,
    before_mode         INTEGER,
    after_kind          TEXT CHECK (after_kind IN ('file', 'symlink', 'folder')),
    after_content       BLOB,
    after_length_bytes  INTEGER,
    after_mode          INTEGER,
    state               TEXT    NOT NULL CHECK (state IN ('intended', 'published', 'settled', 'conflicted')),
    undoes              INTEGER REFERENCES change,
    opening             INTEGER NOT NULL REFERENCES opening,
    recorded_at_ms      INTEGER NOT NULL,
    FOREIGN KEY (run, step_index) REFERENCES step,
    CHECK (before_kind IS NOT NULL OR after_kind IS NOT NULL)
) STRICT;
CREATE INDEX change_unsettled ON change (number) WHERE state IN ('intended', 'published');
CREATE INDEX change_by_step ON change (run, step_index);
CREATE INDEX change_by_path ON change (path, number);
CREATE INDEX change_by_before ON change (before_content) WHERE before_content IS NOT NULL;
CREATE INDEX change_by_after ON change (after_content) WHERE after_content IS NOT NULL;
CREATE INDEX change_by_undoes ON change (undoes) WHERE undoes IS NOT NULL;

-- Content by hash: small ones here, large ones as synced files under blobs/.
CREATE TABLE content (
    hash         BLOB    PRIMARY KEY CHECK (length(hash) = 32),
    length_bytes INTEGER NOT NULL,
    stored_at_ms INTEGER NOT NULL,
    bytes        BLOB                 -- NULL: in the file blobs/<first two hex digits>/<hash>
) STRICT;

-- Named values. A write takes a fresh number, which is the document's version.
CREATE TABLE document (
    version       INTEGER PRIMARY KEY AUTOINCREMENT,
    name          TEXT    NOT NULL UNIQUE,
    hash          BLOB    NOT NULL CHECK (length(hash) = 32),
    run           INTEGER REFERENCES run,
    written_at_ms INTEGER NOT NULL,
    bytes         BLOB    NOT NULL
) STRICT;
