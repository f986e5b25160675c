// Finds where triples end, for scanner.ts, in a memory into which their bytes were copied: in AssemblyScript, as
// WebAssembly reads eight bytes at once wherever they lie and checks no bounds. It passes the triples that the known
// writers make; who calls it sees to all others, one by one. triples-kernel-bytes.ts has what this compiles to;
// `npm run kernel` writes it.

// What a triple or a literal has that is checked elsewhere, once: names of datatypes, of languages and of graphs.
export const DATATYPE: u32 = 1
export const LANGUAGE: u32 = 2
export const GRAPH: u32 = 3

/** Each name that was learnt: its kind and its length as one number, and its bytes. */
const namesAt: usize = 0x400
const nameBytes: usize = 128
const nameCount: u32 = 128
const mostName: u32 = 120

/** Triples that the last call has passed. */
export let count: i32 = 0

let end: usize = 0
let longest: u32 = 0

/**
 * Passes the triples that begin at `at`, at most `most`, up to one that lies beyond `until` or is of another form, or
 * has a string of more than `longestString` bytes. Returns where that begins.
 */
export function pass(at: usize, until: usize, most: i32, longestString: u32): usize {
  end = until
  longest = longestString
  let passed: i32 = 0
  for (; passed < most; passed++) {
    const next = triple(at)
    if (next == 0) break
    at = next
  }
  count = passed
  return at
}

/** The name that is [at, at + length) is a good one of its kind. */
export function learn(kind: u32, at: usize, length: u32): void {
  if (length > mostName || length == 0) return
  const entry = nameAt(at, length)
  store<u32>(entry, (length << 2) | kind)
  memory.copy(entry + 8, at, length)
}

function nameAt(at: usize, length: u32): usize {
  const last = length < 4 ? load<u8>(at + length - 1) : load<u32>(at + length - 4)
  return namesAt + <usize>((((last ^ length) * 0x9e3779b1) >>> 24) % nameCount) * nameBytes
}

/** Where the triple at `at` ends, or 0. */
function triple(at: usize): usize {
  if (at + 16 > end) return 0
  const first: u32 = load<u32>(at)
  let fields: u32 = first & 0xff
  if (fields == 0x83 || fields == 0x84) {
    fields -= 0x80
    at += 1
  } else if ((first & 0xffff) == 0x00de) {
    fields = (first >>> 16) & 0xff
    if (fields != 3 && fields != 4) return 0
    at += 3
  } else return 0
  if (load<u16>(at) != 0x73a1) return 0
  at = term(at + 2)
  if (at == 0 || at + 2 > end || load<u16>(at) != 0x70a1) return 0
  at = term(at + 2)
  if (at == 0 || at + 2 > end || load<u16>(at) != 0x6fa1) return 0
  at = term(at + 2)
  if (at == 0 || fields == 3) return at
  if (at + 2 > end || load<u16>(at) != 0x67a1) return 0
  return known(GRAPH, at + 2)
}

/** Where the term {v, e}, {v, e, dt} or {v, e, ln} at `at` ends, or 0. */
function term(at: usize): usize {
  if (at + 8 > end) return 0
  let text = at + 3
  let hasMore = false
  const begin = load<u32>(at)
  const narrow = begin & 0xffffff
  if (narrow == 0x76a183) hasMore = true
  else if (narrow != 0x76a182) {
    if ((begin & 0xfffeffff) != 0xa10200de || load<u8>(at, 4) != 0x76) return 0
    hasMore = begin == 0xa10300de
    text = at + 5
  }
  text = string(text)
  const to = text + stringLength
  if (text == 0 || to + 3 > end || load<u16>(to) != 0x65a1) return 0
  const isEntity: u32 = load<u8>(to, 2)
  if ((isEntity | 1) != 0xc3 || !isUtf8(text, to)) return 0
  if (!hasMore) return to + 3
  if (isEntity != 0xc2 || to + 7 > end || load<u8>(to, 3) != 0xa2) return 0
  const key: u32 = load<u16>(to, 4)
  if (key == 0x7464) return known(DATATYPE, to + 6)
  return key == 0x6e6c ? known(LANGUAGE, to + 6) : 0
}

let stringLength: u32 = 0

/** Where the bytes of the string at `at` begin, at most 65,535 of them, or 0. */
function string(at: usize): usize {
  const first: u32 = load<u8>(at)
  if (first >= 0xa0 && first <= 0xbf) {
    stringLength = first & 0x1f
    at += 1
  } else if (first == 0xd9) {
    stringLength = load<u8>(at, 1)
    at += 2
  } else if (first == 0xda) {
    stringLength = bswap<u16>(load<u16>(at, 1))
    at += 3
  } else return 0
  return stringLength > longest ? 0 : at
}

/** Where the name at `at` ends, if it was learnt, or 0. */
function known(kind: u32, at: usize): usize {
  if (at >= end) return 0
  const text = string(at)
  const length = stringLength
  const to = text + length
  if (text == 0 || to > end || length > mostName || length == 0) return 0
  const entry = nameAt(text, length)
  if (load<u32>(entry) != ((length << 2) | kind)) return 0
  return equal(entry + 8, text, length) ? to : 0
}

/** May read, and not look at, seven bytes behind both. */
function equal(a: usize, b: usize, length: u32): bool {
  for (; length >= 8; length -= 8, a += 8, b += 8) if (load<u64>(a) != load<u64>(b)) return false
  return length == 0 || (load<u64>(a) ^ load<u64>(b)) << (64 - ((<u64>length) << 3)) == 0
}

/** Well-formed UTF-8 (RFC 3629, Unicode table 3-7). May read, and not look at, 16 bytes behind it. */
function isUtf8(at: usize, to: usize): bool {
  for (; at + 16 <= to; at += 16) if (i8x16.bitmask(v128.load(at)) != 0) return isMixed(at, to)
  const left = <u32>(to - at)
  return (i8x16.bitmask(v128.load(at)) & ((1 << left) - 1)) == 0 || isMixed(at, to)
}

function isMixed(at: usize, to: usize): bool {
  while (at < to) {
    const first: u32 = load<u8>(at++)
    if (first < 0x80) continue
    let low: u32 = 0x80
    let high: u32 = 0xbf
    let need: usize = 1
    if (first >= 0xe0) {
      need = 2
      if (first == 0xe0) low = 0xa0
      else if (first == 0xed) high = 0x9f
      else if (first >= 0xf0) {
        need = 3
        if (first == 0xf0) low = 0x90
        else if (first == 0xf4) high = 0x8f
        else if (first > 0xf4) return false
      }
    } else if (first < 0xc2) return false
    if (at + need > to) return false
    const second: u32 = load<u8>(at)
    if (second < low || second > high) return false
    if (need > 1 && (load<u8>(at, 1) & 0xc0) != 0x80) return false
    if (need > 2 && (load<u8>(at, 2) & 0xc0) != 0x80) return false
    at += need
  }
  return true
}
