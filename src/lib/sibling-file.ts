// Files of the program that no import names, such as the entry of a thread: TypeScript in a checkout, and
// beside each other in the bundle.

/** The path of `name` (no ending) beside a module; `url` is its `import.meta.url`. */
export const siblingFile = (name: string, url: string): URL =>
  new URL(`./${name}${url.endsWith('.ts') ? '.ts' : '.js'}`, url)
