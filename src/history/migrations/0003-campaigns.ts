// Schema 3: the campaigns' own memory, apart from the versions: what is ours, what was last written,
// creates from before they are sent, and an audit that nothing can change.

export const campaigns = `
CREATE TABLE campaign_account (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  account TEXT NOT NULL
) STRICT;

CREATE TABLE campaign_records (
  key TEXT PRIMARY KEY,
  campaign_id TEXT NOT NULL UNIQUE,
  record TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE campaign_intents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL,
  at INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  intent TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX campaign_intents_open ON campaign_intents (key)
  WHERE state IN ('prepared', 'sending', 'unknown');
CREATE INDEX campaign_intents_at ON campaign_intents (at);

CREATE TABLE campaign_plans (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  plan TEXT NOT NULL
) STRICT;

CREATE TABLE campaign_audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  key TEXT NOT NULL,
  campaign_id TEXT,
  event TEXT NOT NULL,
  cause TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX campaign_audit_key ON campaign_audit (key, id);
CREATE TRIGGER campaign_audit_kept BEFORE UPDATE ON campaign_audit BEGIN
  SELECT RAISE(ABORT, 'the audit is append-only');
END;
CREATE TRIGGER campaign_audit_whole BEFORE DELETE ON campaign_audit BEGIN
  SELECT RAISE(ABORT, 'the audit is append-only');
END;
`
