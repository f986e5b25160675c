// The hash of a term, which the index keeps: a multiplication and a shift for four bytes, and the
// end of MurmurHash3 (Appleby, public domain), so that each bit of it depends on all of the term.

export function termHash(view: DataView, from: number, to: number, kind: number): number {
  let hash = Math.imul(to - from + 1, 0x9e3779b1) ^ kind
  let at = from
  for (const last = to - 4; at <= last; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at), 0x85ebca6b)
    hash ^= hash >>> 15
  }
  for (; at < to; at++) hash = Math.imul(hash ^ view.getUint8(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
