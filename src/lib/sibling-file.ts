// Finds files of the program that no import names, such as the entry of a thread. A checkout has them as TypeScript,
// the bundle as JavaScript.

/** siblingFile returns the address of the file `name` (no ending) beside a module; `url` is its `import.meta.url`. */
export const siblingFile = (name: string, url: string): URL =>
  new URL(`./${name}${url.endsWith('.ts') ? '.ts' : '.js'}`, url)
