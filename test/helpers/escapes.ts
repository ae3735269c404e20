// The ways in which another host can escape what it received.

export const ESCAPES: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  JSON: (text) => JSON.stringify(text),
  'JSON with \\/': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  URL: encodeURIComponent,
  'URL in small letters': (text) =>
    encodeURIComponent(text).replace(/%../g, (one) => one.toLowerCase()),
  XML: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  'XML, quotes by number': (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&#34;'),
  'Base64 of it': (text) => Buffer.from(text).toString('base64'),
  'Base64 of URLs': (text) => Buffer.from(text).toString('base64url'),
  'hex of it': (text) => Buffer.from(text).toString('hex'),
}
