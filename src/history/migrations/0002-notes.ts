// Schema 2. Never edited once released: a change is a new file with the next number.

/** Small texts that outlive a restart, by name: what a receiver of alerts was told. */
export const notes = `
CREATE TABLE notes (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`
