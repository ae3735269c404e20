// What prefixes are bound to (Namespaces in XML 1.0), by their numbers and those of namespaces. Declarations
// that were read before are bound here; the reader in TypeScript uses the same tables.

import { DECLARED_URI, PREFIX } from './names'

/** More than the names and bindings that can be known at a time. */
const MOST_PREFIXES = 131_072
/** As the limits on depth and on attributes allow. */
const MOST_BINDINGS = 65_536

/** The namespace (u32) of each prefix; 0: it is bound to none. Prefix 0 stands for having none. */
export const NAMESPACE_OF = memory.data(MOST_PREFIXES * 4, 16)
/** What open elements declared (u32): the prefix, how many elements were open, and what it was bound to before. */
export const BOUND_PREFIX = memory.data(MOST_BINDINGS * 4, 16)
export const BOUND_DEPTH = memory.data(MOST_BINDINGS * 4, 16)
export const BOUND_BEFORE = memory.data(MOST_BINDINGS * 4, 16)
/** How many of them there are (u32). */
export const BINDINGS = memory.data(16, 16)

/** Entries of the names that the present tag declares. */
const MOST_PENDING: u32 = 8
const pending = memory.data(32, 16)
let pendingCount: u32 = 0

@inline
export function begin(): void {
  pendingCount = 0
}

/** The present tag declares this one; false: it declares too many. */
@inline
export function declare(name: u32): bool {
  if (pendingCount == MOST_PENDING) return false
  store<u32>(pending + pendingCount * 4, name)
  pendingCount++
  return true
}

/** Whether the prefix of this name is bound, or will be by the present tag. */
@inline
export function isBound(name: u32): bool {
  const prefix = load<u32>(name, PREFIX)
  if (load<u32>(NAMESPACE_OF + prefix * 4) != 0) return true
  for (let i: u32 = 0; i < pendingCount; i++) {
    if (load<u32>(load<u32>(pending + i * 4), PREFIX) == prefix) return true
  }
  return false
}

/** The element of the present tag is open, as the `depth`th. */
@inline
export function enter(depth: u32): void {
  for (let i: u32 = 0; i < pendingCount; i++) {
    const name = load<u32>(pending + i * 4)
    const prefix = load<u32>(name, PREFIX)
    if (prefix == 0) continue
    const row = load<u32>(BINDINGS) * 4
    store<u32>(BOUND_PREFIX + row, prefix)
    store<u32>(BOUND_DEPTH + row, depth)
    store<u32>(BOUND_BEFORE + row, load<u32>(NAMESPACE_OF + prefix * 4))
    store<u32>(NAMESPACE_OF + prefix * 4, load<u32>(name, DECLARED_URI))
    store<u32>(BINDINGS, load<u32>(BINDINGS) + 1)
  }
}

/** Ends what elements deeper than `depth` declared. */
@inline
export function leave(depth: u32): void {
  let count = load<u32>(BINDINGS)
  while (count > 0 && load<u32>(BOUND_DEPTH + (count - 1) * 4) > depth) {
    count--
    const prefix = load<u32>(BOUND_PREFIX + count * 4)
    store<u32>(NAMESPACE_OF + prefix * 4, load<u32>(BOUND_BEFORE + count * 4))
    store<u32>(BINDINGS, count)
  }
}
