// What the compiled skimmer (assembly/) and its stand-in (without-simd.ts) have in common: their tables, as
// large as assembly/ makes them, and what they can do.

/** Bytes for the document. */
export const ROOM = 8 * 1_024 * 1_024
export const MOST_OPEN = 1_024
export const MOST_PREFIXES = 131_072
export const MOST_BINDINGS = 65_536

export type Addresses = Record<
  | 'INPUT'
  | 'STATE'
  | 'OPEN'
  | 'OPENED_AT'
  | 'NAMESPACE_OF'
  | 'BOUND_PREFIX'
  | 'BOUND_DEPTH'
  | 'BOUND_BEFORE'
  | 'BINDINGS',
  Pick<WebAssembly.Global, 'value'>
>

export interface SkimmerParts extends Addresses {
  memory: WebAssembly.Memory
  skim(from: number, end: number, base: number): number
  firstForbidden(from: number, to: number): number
  add(at: number, length: number, flags: number, prefix: number): number
  nameAt(at: number): number
  ignore(entry: number, place: number): void
  declared(entry: number, at: number, length: number, most: number, namespace: number): void
  forget(): void
  beginContent(): void
  takeContent(from: number, to: number): void
  contentHash(): number
}
