// Schema 4. Never edited once released: a change is a new file with the next number.

/** The bytes that are kept of a feed, found at each upload however long its history is. */
export const spooled = `
CREATE INDEX versions_spooled ON versions (feed, id) WHERE spool IS NOT NULL;
`
