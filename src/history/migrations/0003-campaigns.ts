// Schema 3: the campaigns' own memory, apart from the versions: what is ours, every write from before it
// is sent, what people said, and plans. A line of the history gets an end and is changed in nothing else.

export const campaigns = `
CREATE TABLE campaign_account (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  facts TEXT NOT NULL
) STRICT;

CREATE TABLE campaign_records (
  key TEXT PRIMARY KEY,
  record TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE campaign_others (
  id TEXT PRIMARY KEY,
  key TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE campaign_words (
  key TEXT PRIMARY KEY,
  not_its TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE campaign_plans (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  plan TEXT NOT NULL
) STRICT;

CREATE TABLE campaign_writes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  key TEXT NOT NULL,
  campaign_id TEXT,
  action TEXT NOT NULL,
  body TEXT,
  before TEXT NOT NULL,
  spend TEXT NOT NULL,
  why TEXT NOT NULL,
  by TEXT NOT NULL,
  outcome TEXT NOT NULL,
  ended_at INTEGER,
  reason TEXT
) STRICT;
CREATE INDEX campaign_writes_key ON campaign_writes (key, id);
CREATE INDEX campaign_writes_at ON campaign_writes (at);
CREATE INDEX campaign_writes_open ON campaign_writes (id) WHERE outcome IN ('sending', 'unknown', 'given-up');
CREATE INDEX campaign_writes_creates ON campaign_writes (key, id) WHERE action = 'create';
CREATE TRIGGER campaign_writes_kept BEFORE UPDATE OF at, key, action, body, before, spend, why, by ON campaign_writes BEGIN
  SELECT RAISE(ABORT, 'a line of the history is not changed');
END;
CREATE TRIGGER campaign_writes_whole BEFORE DELETE ON campaign_writes BEGIN
  SELECT RAISE(ABORT, 'the history is append-only');
END;
`
