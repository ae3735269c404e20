// Passes over what nobody is told of: whole text, references, CDATA sections and tags of names that were
// checked before. Sixteen bytes at a time, which JavaScript cannot. It accepts only what it is sure of and
// stops in front of anything else, so that every fault is found, and told, by the readers in TypeScript.
//
// AssemblyScript: TypeScript's syntax for WebAssembly. `npm run skim` compiles it (make.ts).

import { attributesEnd, isEmptyTag } from './attributes'
import { BANG, GT, LT, SLASH } from './bytes'
import { BYTES, delimiter, IGNORED, IS_ELEMENT, LENGTH, named, same, USES } from './names'
import { begin, enter, isBound, leave } from './namespaces'
import { CDATA_BYTES, cdataEnd, textEnd } from './text'

/** Elements that can be open: more than the limit on depth. */
const MOST_OPEN = 1_024
/** Bytes of the document that can be there at a time. */
export const ROOM = 8 * 1_024 * 1_024

/** Entries of the open elements' names (u32), and where in the document their tags are (f64). */
export const OPEN = memory.data(MOST_OPEN * 4, 16)
export const OPENED_AT = memory.data(MOST_OPEN * 8, 16)
/** What the readers in TypeScript know too, each an i32: see `State` in skimmer.ts. */
export const STATE = memory.data(32, 16)
/** The document's bytes, with a 0 behind the last. At the end, since the rest of it is never touched. */
export const INPUT = memory.data(ROOM + 4_096, 16)

const DEPTH = 0
const IGNORED_FROM = 4
const PLACE = 8
const WANTS_TEXT = 12
const MOST_DEPTH = 16
const MOST_BYTES = 20
const MOST_ATTRIBUTES = 24

/** Goes on from the token at `from` as far as it can; answers the token that it leaves to others. `base`: the place in the document of address 0. */
export function skim(from: u32, end: u32, base: f64): u32 {
  const place: u32 = load<u32>(STATE, PLACE)
  const ignoredHere: u64 = place == 0 ? 0 : (<u64>1) << (<u64>place)
  const wantsText = load<u32>(STATE, WANTS_TEXT) != 0
  const mostDepth = load<u32>(STATE, MOST_DEPTH)
  const mostBytes = load<u32>(STATE, MOST_BYTES)
  const mostAttributes = load<u32>(STATE, MOST_ATTRIBUTES)
  let depth = load<u32>(STATE, DEPTH)
  let ignored = load<u32>(STATE, IGNORED_FROM)
  let at = from
  // What follows the root element is not content.
  while (at < end && depth != 0) {
    const silent = ignored != 0 || !wantsText
    if (load<u8>(at) != LT) {
      if (!silent) break
      const to = textEnd(at, end)
      if (to == 0 || to - at > mostBytes) break
      at = to
    }
    const next = load<u8>(at + 1)
    if (next == SLASH) {
      if (ignored == 0) break
      const name = load<u32>(OPEN + (depth - 1) * 4)
      if (name == 0) break
      const length = load<u32>(name, LENGTH)
      const to = at + 2 + length
      if (to >= end || load<u8>(to) != GT || !same(name + BYTES, at + 2, length)) break
      at = to + 1
      depth--
      leave(depth)
      if (depth < ignored) ignored = 0
    } else if (next == BANG) {
      if (!silent) break
      const to = cdataEnd(at, end)
      if (to == 0 || to - at - CDATA_BYTES > mostBytes) break
      at = to
    } else {
      const nameEnd = delimiter(at + 1)
      const name = named(at + 1, nameEnd - at - 1)
      if (name == 0 || depth >= mostDepth) break
      if ((load<u32>(name, USES) & IS_ELEMENT) == 0) break
      if (ignored == 0 && (load<u64>(name, IGNORED) & ignoredHere) == 0) break
      begin()
      let to = nameEnd
      if (load<u8>(to) != GT) to = attributesEnd(to, end, mostAttributes)
      if (to == 0 || to >= end || to - at > mostBytes || !isBound(name)) break
      if (!isEmptyTag(to)) {
        store<u32>(OPEN + depth * 4, name)
        store<f64>(OPENED_AT + depth * 8, base + <f64>at)
        depth++
        enter(depth)
        if (ignored == 0) ignored = depth
      }
      at = to + 1
    }
  }
  store<u32>(STATE, depth, DEPTH)
  store<u32>(STATE, ignored, IGNORED_FROM)
  return at
}

export { beginContent, contentHash, takeContent } from './content'
export { firstForbidden } from './forbidden'
export { add, declared, forget, ignore, nameAt } from './names'
export { BINDINGS, BOUND_BEFORE, BOUND_DEPTH, BOUND_PREFIX, NAMESPACE_OF } from './namespaces'
