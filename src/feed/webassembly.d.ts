// As much of WebAssembly's types as is used here: TypeScript has them among those of browsers only.

declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module)
    readonly exports: object
  }
  /** False where the processor lacks what the code needs. */
  function validate(bytes: Uint8Array): boolean
  interface Memory {
    readonly buffer: ArrayBuffer
  }
  interface Global {
    readonly value: number
  }
}
