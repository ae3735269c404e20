// Schema 1, without the campaigns. After the first release this file never changes: each change is a new file with the
// next number.

/*
 * feeds points at the versions that `status` shows, so the cost of `status` depends on the number of feeds, not on the
 * length of the history. A feed that a person forgot is hidden until one of its files comes. state_counts keeps the
 * number of versions per state, by triggers, for the same reason.
 * events and attempts are stored by version (WITHOUT ROWID), so SQLite reads all rows of one version in one go.
 * external_campaign_ids is the last column: it can be long, and columns after a long value are slow to read.
 * retry_asked_at is set from the retry of a person until the daemon takes it; retries counts all of them.
 * versions_spooled finds the kept copies of a feed at each upload without reading the whole history of the feed.
 *
 * versions_rivals finds the versions of other feeds of an account that the service has or gets; versions_alike finds the
 * versions among them whose names look alike (domain/likeness.ts). versions_at finds the feeds that the file at a path
 * was; its condition never changes, so SQLite writes it once for each version. versions_older and attempts_unknown find
 * the few versions with an older date, and the versions that storage might have.
 * accounts has the accounts of which a person said that the service keeps all feeds; the configured account has an empty
 * name.
 * differences has what a held version changes, as JSON. It is a table of its own because it is long, and few versions
 * are ever held. older might be a version that the history has forgotten.
 * departures has the files that are leaving the folder, and token a part of the temporary name of each.
 * pending_receipts has the receipts that are not written yet; token is a part of the name of the draft.
 * moved_files has the paths whose files the daemon moved or deleted in the last 30 days, for `show PATH`.
 *
 * pauses has a row for each feed that a person paused, and one row with an empty name when all feeds are paused.
 *
 * told_alerts has the problems of which a receiver of alerts was told the beginning, and not yet the end. The id of a
 * receiver is a hash of its program or address, which can hold a secret.
 *
 * settings is one row with the facts of the whole database. base_url to partner_account say where the uploads go;
 * versions up to other_service_up_to went to another service or account. lost_up_to is the last id that the history knew
 * when it was found to be lost, until a person decides; kept_copies has the postings in the largest copy of each feed at
 * that moment. marked_at is the first start of a daemon, and restored_at the last time that the database was found to be
 * a copy. state_marks has the texts that the mark beside the database can have, and its inode and ctime once it was
 * written (history/state-mark.ts).
 */
export const initial = `
CREATE TABLE versions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  feed TEXT NOT NULL,
  path TEXT NOT NULL,
  likeness TEXT NOT NULL,
  account TEXT,
  state TEXT NOT NULL,
  reason TEXT,
  reason_code TEXT,
  hint TEXT,
  line INTEGER,
  "column" INTEGER,
  guard TEXT,
  approved INTEGER NOT NULL DEFAULT 0,
  sha256 TEXT,
  md5 TEXT,
  bytes INTEGER,
  encoding TEXT,
  root TEXT,
  records TEXT,
  postings INTEGER,
  without_id INTEGER,
  duplicates INTEGER,
  placeholder TEXT,
  requisition_ids INTEGER,
  changes TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  retries INTEGER NOT NULL DEFAULT 0,
  retry_asked_at INTEGER,
  detected_at INTEGER NOT NULL,
  modified_at INTEGER,
  date TEXT,
  uploaded_at INTEGER,
  next_attempt_at INTEGER,
  incomplete_since INTEGER,
  file_url TEXT,
  etag_verified INTEGER,
  spool TEXT,
  warnings TEXT NOT NULL DEFAULT '[]',
  external_campaign_ids TEXT
) STRICT;
CREATE INDEX versions_feed ON versions (feed);
CREATE INDEX versions_feed_state ON versions (feed, state);
CREATE INDEX versions_state ON versions (state);
CREATE INDEX versions_detected ON versions (detected_at);
CREATE INDEX versions_next_attempt ON versions (next_attempt_at) WHERE state = 'queued';
CREATE INDEX versions_queued ON versions (attempts, id) WHERE state = 'queued';
CREATE INDEX versions_retried ON versions (retry_asked_at, id) WHERE retry_asked_at IS NOT NULL;
CREATE INDEX versions_incomplete ON versions (incomplete_since) WHERE state = 'incomplete';
CREATE INDEX versions_approved ON versions (feed, id) WHERE approved = 1;
CREATE INDEX versions_rivals ON versions (account, feed)
  WHERE state IN ('queued', 'uploading', 'uploaded') OR approved = 1;
CREATE INDEX versions_alike ON versions (account, likeness, feed)
  WHERE state IN ('queued', 'uploading', 'uploaded') OR approved = 1;
CREATE INDEX versions_at ON versions (path) WHERE sha256 IS NOT NULL;
CREATE INDEX versions_unread ON versions (path) WHERE sha256 IS NULL;
CREATE INDEX versions_older ON versions (feed) WHERE reason_code = 'older';
CREATE INDEX versions_spooled ON versions (feed, id) WHERE spool IS NOT NULL;

CREATE TABLE feeds (
  name TEXT PRIMARY KEY,
  newest INTEGER NOT NULL REFERENCES versions,
  last_uploaded INTEGER REFERENCES versions,
  forgotten_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX feeds_newest ON feeds (newest, forgotten_at);
CREATE INDEX feeds_last_uploaded ON feeds (last_uploaded);

CREATE TABLE state_counts (
  state TEXT PRIMARY KEY,
  versions INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER count_added AFTER INSERT ON versions BEGIN
  INSERT INTO state_counts VALUES (new.state, 1)
    ON CONFLICT (state) DO UPDATE SET versions = versions + 1;
END;
CREATE TRIGGER count_deleted AFTER DELETE ON versions BEGIN
  UPDATE state_counts SET versions = versions - 1 WHERE state = old.state;
END;
CREATE TRIGGER count_moved AFTER UPDATE OF state ON versions WHEN old.state <> new.state BEGIN
  UPDATE state_counts SET versions = versions - 1 WHERE state = old.state;
  INSERT INTO state_counts VALUES (new.state, 1)
    ON CONFLICT (state) DO UPDATE SET versions = versions + 1;
END;

CREATE TABLE events (
  version INTEGER NOT NULL REFERENCES versions ON DELETE CASCADE,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  from_state TEXT,
  to_state TEXT NOT NULL,
  reason TEXT,
  reason_code TEXT,
  line INTEGER,
  "column" INTEGER,
  count INTEGER NOT NULL DEFAULT 1,
  first_at INTEGER,
  PRIMARY KEY (version, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
  version INTEGER NOT NULL REFERENCES versions ON DELETE CASCADE,
  n INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT,
  status INTEGER,
  code TEXT,
  bytes_sent INTEGER NOT NULL DEFAULT 0,
  key TEXT,
  PRIMARY KEY (version, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_running ON attempts (version, n) WHERE outcome IS NULL;
CREATE INDEX attempts_unknown ON attempts (version) WHERE outcome = 'unknown';

CREATE TABLE differences (
  version INTEGER PRIMARY KEY REFERENCES versions ON DELETE CASCADE,
  older INTEGER,
  summary TEXT
) STRICT;

CREATE TABLE files (
  path TEXT PRIMARY KEY,
  dev TEXT NOT NULL,
  ino TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns TEXT NOT NULL,
  ctime_ns TEXT NOT NULL,
  version INTEGER NOT NULL REFERENCES versions,
  missing_since INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX files_version ON files (version);

CREATE TABLE moved_files (
  path TEXT PRIMARY KEY,
  version INTEGER NOT NULL REFERENCES versions ON DELETE CASCADE,
  disposition TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX moved_files_version ON moved_files (version);
CREATE INDEX moved_files_at ON moved_files (at);

CREATE TABLE pending_receipts (
  version INTEGER NOT NULL REFERENCES versions ON DELETE CASCADE,
  path TEXT NOT NULL,
  token TEXT NOT NULL,
  PRIMARY KEY (version, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE departures (
  token TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  dev TEXT NOT NULL,
  ino TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns TEXT NOT NULL,
  ctime_ns TEXT NOT NULL,
  disposition TEXT NOT NULL,
  sha256 TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  feed TEXT,
  at INTEGER NOT NULL,
  version INTEGER REFERENCES versions ON DELETE CASCADE,
  reason TEXT
) STRICT;
CREATE INDEX requests_version ON requests (version);
CREATE INDEX requests_open ON requests (id) WHERE version IS NULL AND reason IS NULL;

CREATE TABLE pauses (
  feed TEXT PRIMARY KEY,
  since INTEGER NOT NULL,
  by TEXT NOT NULL,
  left_ms INTEGER,
  seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE accounts (
  name TEXT PRIMARY KEY,
  keeps_all_since INTEGER NOT NULL,
  by TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE alert_receivers (
  id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE told_alerts (
  id INTEGER PRIMARY KEY,
  receiver TEXT NOT NULL REFERENCES alert_receivers ON DELETE CASCADE,
  key TEXT NOT NULL,
  mark TEXT NOT NULL,
  event TEXT NOT NULL,
  feed TEXT,
  campaign TEXT,
  UNIQUE (receiver, key)
) STRICT;

CREATE TABLE settings (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  base_url TEXT,
  account TEXT,
  partner TEXT,
  partner_account TEXT,
  other_service_up_to INTEGER NOT NULL DEFAULT 0,
  lost_up_to INTEGER,
  marked_at INTEGER,
  restored_at INTEGER
) STRICT;
INSERT INTO settings (one) VALUES (1);

CREATE TABLE state_marks (
  text TEXT PRIMARY KEY,
  ino TEXT,
  ctime_ns TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE kept_copies (
  feed_hash TEXT PRIMARY KEY,
  postings INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`
