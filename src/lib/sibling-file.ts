// Finds files of the program that no import names, such as the entry of a thread. A checkout has them as TypeScript,
// the bundle as JavaScript.

/** siblingFile returns the address of the file `name` (no ending) beside a module; `url` is its `import.meta.url`. */
export const siblingFile = (name: string, url: string): URL =>
  new URL(`./${name}${url.endsWith('.ts') ? '.ts' : '.js'}`, url)

/**
 * THREAD_FLAGS are the Node flags of each thread. Without the first one piscina loads our modules with require(), and
 * Node 24.21 aborts the whole process if the thread is stopped at that moment. piscina tries require() all the same, and
 * the second flag hides the warning about that.
 */
export const THREAD_FLAGS = ['--no-experimental-require-module', '--no-warnings']
