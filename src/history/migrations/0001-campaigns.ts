// The tables of schema 1 that the campaigns use (campaigns/store.ts). After the first release this file never changes.

/*
 * campaign_bindings says which campaign belongs to which entry of the campaigns file, and what was sent to it. A
 * released campaign belongs to no entry. campaign_writes has each request that writes; its row is added before the
 * request is sent. A row later gets its end, and a new campaign its id; the other columns never change. campaign_files
 * and campaign_file_keys have the last file that was used, and the keys of its entries in their order. campaign_runs
 * has the last look at the campaigns; its three lists are JSON, because they are only read as a whole.
 */
export const initialCampaigns = `
CREATE TABLE campaign_bindings (
  account TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  key TEXT NOT NULL,
  account_id TEXT,
  start_date TEXT,
  mark TEXT,
  sent TEXT NOT NULL,
  shown TEXT,
  repeat_at INTEGER,
  released INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account, campaign_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX campaign_bindings_key ON campaign_bindings (account, key) WHERE released = 0;

CREATE TABLE campaign_files (
  account TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE campaign_file_keys (
  account TEXT NOT NULL REFERENCES campaign_files ON DELETE CASCADE,
  n INTEGER NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (account, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE campaign_runs (
  account TEXT PRIMARY KEY,
  at TEXT NOT NULL,
  cause TEXT NOT NULL,
  mode TEXT NOT NULL,
  state TEXT NOT NULL,
  since TEXT NOT NULL,
  problem TEXT,
  hint TEXT,
  entries TEXT NOT NULL,
  findings TEXT NOT NULL,
  failures TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE campaign_writes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL,
  at INTEGER NOT NULL,
  key TEXT NOT NULL,
  campaign_id TEXT,
  action TEXT NOT NULL,
  body TEXT,
  before TEXT NOT NULL,
  actor TEXT NOT NULL CHECK (actor IN ('person', 'daemon', 'service')),
  by TEXT NOT NULL,
  outcome TEXT NOT NULL,
  ended_at INTEGER,
  reason TEXT
) STRICT;
CREATE INDEX campaign_writes_key ON campaign_writes (key, id);
CREATE INDEX campaign_writes_campaign ON campaign_writes (campaign_id, id);
CREATE INDEX campaign_writes_person ON campaign_writes (account, id) WHERE actor = 'person';
CREATE INDEX campaign_writes_open ON campaign_writes (id) WHERE outcome IN ('sending', 'unknown');
CREATE TRIGGER campaign_writes_kept BEFORE UPDATE OF account, at, key, action, body, before, actor, by ON campaign_writes BEGIN
  SELECT RAISE(ABORT, 'a line of the history is not changed');
END;
CREATE TRIGGER campaign_writes_whole BEFORE DELETE ON campaign_writes BEGIN
  SELECT RAISE(ABORT, 'the history is append-only');
END;
`
