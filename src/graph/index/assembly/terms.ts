// Reads triples from MessagePack and looks their terms up, for part-builder.ts, in the memory in which a
// term-table.ts keeps its terms: in AssemblyScript, as WebAssembly reads eight bytes at once wherever they lie and
// checks no bounds. It takes the triples that the known writers make; who calls it sees to all others, one by one.
// terms-kernel-bytes.ts has what this compiles to; `npm run kernel` writes it.

/** As in encoded-term.ts. */
const ENTITY: u32 = 1
const ANNOTATED: u32 = 3
const LANGUAGE: u32 = 1
const KNOWN: u32 = 2

/** As in term-table.ts. */
const mostSteps: u32 = 64
const numbersAhead: usize = 48

/** Of terms and triples whose look-ups are at once. */
const triplesAtOnce: i32 = 128
/** Triples that are told at once, three columns of them. */
const mostTold: i32 = 4096
/** Terms that are gathered at once, and those whose entries are looked for at the same time. */
const mostGathered: usize = 4096
const gatheredAtOnce: u32 = 128

// Addresses. Each array of what waits has room for three terms of each triple.
const few: usize = 0x1000
const datatypes: usize = 0x1400
const froms: usize = 0x4000
const heads: usize = 0x4800
const hashes: usize = 0x5000
const ids: usize = 0x5800
/** What a literal has more: its header, as the index has it, and where its bytes lie. */
const moreHeads: usize = 0x6000
const moreFroms: usize = 0x6800
/** Of each triple the names of its terms, and where it begins. */
const names: usize = 0x7000
/** Slots of predicates that are looked up, and their names. */
const given: usize = 0x7800
const told: usize = 0x8000
// Where terms are gathered, nothing is told: pairs of hash and id, where entries end, hashes, and which are annotated.
const pairs = told
const ends = pairs + 8 * mostGathered
const gatheredHashes = ends + 4 * mostGathered
const annotated = gatheredHashes + 4 * mostGathered

/** No id, and what a term has more that has nothing more. */
const none: u32 = 0xffffffff
/** A datatype that is not among the well-known ones. */
const unlisted: u32 = 0xfffffffe

/** Each datatype that was met: the length of its IRI, what it is in the index, and the IRI. */
const datatypeBytes: usize = 128
const datatypeCount: u32 = 64
const mostDatatype: u32 = 96

/** Where the table lies, and for how many terms and numbers there is room. */
let termStarts: usize = 0
let termHashes: usize = 0
let slots: usize = 0
let words: usize = 0
let termRoom: u32 = 0
let wordRoom: u32 = 0
let slotMask: u32 = 0

// What the table has, before a call and after it.
export let termCount: u32 = 0
export let wordLength: u32 = 0
/** Triples that the last call has told. */
export let count: i32 = 0
/** Numbers for which there was no room, with which the same call will go on; 0 where there was. */
export let needed: u32 = 0
/** Of the terms that were gathered last, those that are annotated. */
export let annotatedCount: u32 = 0
/** Nothing would be read ahead if nothing became of it. */
export let wasRead: u32 = 0

let end: usize = 0
/** Terms that wait, and at most how many numbers they take. */
let waiting: u32 = 0
let waitingWords: u32 = 0
let givenCount: u32 = 0

// The term that was read last.
let from: usize = 0
let head: u32 = 0
let moreHead: u32 = 0
let moreFrom: usize = 0

/** The table lies here from now on. */
export function place(
  startsAt: usize,
  hashesAt: usize,
  slotsAt: usize,
  wordsAt: usize,
  roomForTerms: u32,
  roomForWords: u32,
): void {
  termStarts = startsAt
  termHashes = hashesAt
  slots = slotsAt
  words = wordsAt
  termRoom = roomForTerms
  wordRoom = roomForWords
  slotMask = 2 * roomForTerms - 1
}

/** Enters the terms that the table has into free slots. Returns how many: up to one whose hash has too many others. */
export function enter(): u32 {
  for (let id: u32 = 0; id < termCount; id++) {
    const hash = load<u32>(termHashes + ((<usize>id) << 2))
    let number = hash & slotMask
    let step: u32 = 0
    for (; step < mostSteps; step++, number = (number + 1) & slotMask) {
      if (load<u32>(slots + ((<usize>number) << 3), 4) == 0) break
    }
    if (step == mostSteps) return id
    store<u32>(slots + ((<usize>number) << 3), hash)
    store<u32>(slots + ((<usize>number) << 3), id + 1, 4)
  }
  return termCount
}

/** The ids of other terms follow. */
export function forget(): void {
  memory.fill(few, 0, 1024)
}

/**
 * A datatype is this in the index: its place among the well-known ones, `unlisted`, or `none` where a literal has
 * nothing more.
 */
export function learn(at: usize, length: u32, known: u32): void {
  if (length > mostDatatype) return
  const entry = datatypeAt(at, length)
  store<u32>(entry, length)
  store<u32>(entry, known, 4)
  memory.copy(entry + 8, at, length)
}

function datatypeAt(at: usize, length: u32): usize {
  const last = length < 4 ? 0 : load<u32>(at + length - 4)
  return (
    datatypes + <usize>((((last ^ length) * 0x9e3779b1) >>> 26) % datatypeCount) * datatypeBytes
  )
}

/**
 * Tells the triples that begin at `at`, at most `most`, up to one that lies beyond `until` or is of another form,
 * or for which there is no room. Returns where that begins.
 */
export function tell(at: usize, until: usize, most: i32): usize {
  end = until
  count = 0
  needed = 0
  while (most > 0 && count + triplesAtOnce <= mostTold) {
    const before = count
    const next = some(at, min(most, triplesAtOnce))
    if (needed != 0) break
    at = next
    most -= count - before
    if (count - before < triplesAtOnce) break
  }
  return at
}

function some(start: usize, most: i32): usize {
  let at = start
  let n: i32 = 0
  let lastFrom: usize = 0
  let lastHead: u32 = none
  let lastName: u32 = 0
  waiting = 0
  waitingWords = 0
  givenCount = 0
  for (let name = names; n < most; n++, name += 16) {
    let next = fields(at)
    if (next == 0) break
    next = term(next)
    if (next == 0 || next + 2 > end || load<u16>(next) != 0x70a1 || moreHead != none) break
    const subject = from
    const subjectHead = head
    next = term(next + 2)
    if (next == 0 || next + 2 > end || load<u16>(next) != 0x6fa1 || moreHead != none) break
    const predicate = from
    const predicateHead = head
    next = term(next + 2)
    if (next == 0) break
    if (subjectHead != lastHead || !equal(subject, lastFrom, subjectHead >>> 2)) {
      lastFrom = subject
      lastHead = subjectHead
      lastName = wait(subject, subjectHead, none, 0)
    }
    store<u32>(name, lastName)
    store<u32>(name, namePredicate(predicate, predicateHead), 4)
    store<u32>(name, wait(from, head, moreHead, moreFrom), 8)
    store<u32>(name, <u32>at, 12)
    at = next
  }
  if (!hasRoom()) return start
  lookUp()
  return tellOf(n, at)
}

/** Where the first field's value begins, or 0 where the triple is of another form. */
function fields(at: usize): usize {
  if (at + 8 > end) return 0
  if (load<u8>(at) == 0x83) at += 1
  else if (load<u16>(at) == 0x00de && load<u8>(at, 2) == 3) at += 3
  else return 0
  return load<u16>(at) == 0x73a1 ? at + 2 : 0
}

/** Reads the term at `at`; returns its end, or 0 where it is cut, or of another form. */
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
  const length = stringLength
  const to = text + length
  if (text == 0 || to + 3 > end || load<u16>(to) != 0x65a1) return 0
  from = text
  moreHead = none
  head = (length << 2) | (load<u8>(to, 2) & ENTITY)
  return hasMore ? more(to + 3) : to + 3
}

let stringLength: u32 = 0

/** Where the bytes of the string at `at` begin, at most 65,535 of them, or 0. */
function string(at: usize): usize {
  if (at + 3 > end) return 0
  const first: u32 = load<u8>(at)
  if (first >= 0xa0 && first <= 0xbf) {
    stringLength = first & 0x1f
    return at + 1
  }
  if (first == 0xd9) {
    stringLength = load<u8>(at, 1)
    return at + 2
  }
  if (first != 0xda) return 0
  stringLength = bswap<u16>(load<u16>(at, 1))
  return at + 3
}

/** Reads what the literal that was read last has more; returns its end, or 0. */
function more(at: usize): usize {
  if (at + 4 > end || load<u8>(at) != 0xa2 || (head & 3) != 0) return 0
  const key: u32 = load<u16>(at, 1)
  const text = string(at + 3)
  const length = stringLength
  const to = text + length
  if (text == 0 || to > end) return 0
  if (key == 0x7464) {
    if (length > mostDatatype) return 0
    const entry = datatypeAt(text, length)
    if (load<u32>(entry) != length || !equal(entry + 8, text, length)) return 0
    const known = load<u32>(entry, 4)
    if (known == none) return to
    moreHead = known == unlisted ? length << 2 : (known << 2) | KNOWN
    moreFrom = text
  } else {
    if (key != 0x6e6c || hasCapitals(text, to)) return 0
    moreHead = (length << 2) | LANGUAGE
    moreFrom = text
  }
  head += ANNOTATED
  return to
}

function hasCapitals(at: usize, to: usize): bool {
  for (; at < to; at++) if (<u32>load<u8>(at) - 0x41 < 26) return true
  return false
}

/** The name of a term that waits: its place among those. */
function wait(from: usize, head: u32, moreHead: u32, moreFrom: usize): u32 {
  const at = (<usize>waiting) << 2
  store<u32>(froms + at, <u32>from)
  store<u32>(heads + at, head)
  store<u32>(hashes + at, hashOf(from, head))
  store<u32>(moreHeads + at, moreHead)
  store<u32>(moreFroms + at, <u32>moreFrom)
  waitingWords += 4 + (head >>> 4) + (moreHead == none ? 0 : moreHead >>> 4)
  return waiting++
}

/** The same, or `~id` of one that was looked up before: predicates are few. */
function namePredicate(from: usize, head: u32): u32 {
  const length = head >>> 2
  const last: u32 = length < 4 ? 0 : load<u32>(from + length - 4)
  const slot = few + <usize>(((((last >>> 8) ^ length) * 0x165667b1) >>> 24) << 2)
  const id = load<u32>(slot) - 1
  if (id != none && isTerm(id, from, head, none, 0)) return ~id
  const name = wait(from, head, none, 0)
  const at = given + ((<usize>givenCount) << 3)
  store<u32>(at, <u32>slot)
  store<u32>(at, name, 4)
  givenCount++
  return name
}

function hasRoom(): bool {
  const length = wordLength + waitingWords
  if (termCount + waiting + 2 <= termRoom && length <= wordRoom) return true
  needed = length
  return false
}

/** As hashWords(): what a literal has more does not count. */
function hashOf(at: usize, head: u32): u32 {
  let left = head >>> 2
  let hash = nextHash(0x9e3779b1, (left << 2) | (head & 3 & -(<u32>((head & 3) != ANNOTATED))))
  for (; left >= 4; left -= 4, at += 4) hash = nextHash(hash, load<u32>(at))
  if (left > 0) hash = nextHash(hash, load<u32>(at) & ((1 << (left << 3)) - 1))
  hash = (hash ^ (hash >>> 16)) * 0x85ebca6b
  hash = (hash ^ (hash >>> 13)) * 0xc2b2ae35
  return hash ^ (hash >>> 16)
}

function nextHash(hash: u32, word: u32): u32 {
  const next = (hash ^ word) * 0x85ebca6b
  return next ^ (next >>> 15)
}

/** May read, and not look at, seven bytes behind both. */
function equal(a: usize, b: usize, length: u32): bool {
  for (; length >= 8; length -= 8, a += 8, b += 8) if (load<u64>(a) != load<u64>(b)) return false
  return length == 0 || (load<u64>(a) ^ load<u64>(b)) << (64 - ((<u64>length) << 3)) == 0
}

function isTerm(id: u32, from: usize, head: u32, moreHead: u32, moreFrom: usize): bool {
  const entry = words + ((<usize>load<u32>(termStarts + ((<usize>id) << 2))) << 2)
  const length = head >>> 2
  if (load<u32>(entry) != head || !equal(entry + 4, from, length)) return false
  if ((head & 3) != ANNOTATED) return true
  const rest = entry + 4 + ((length + 3) & -4)
  if (load<u32>(rest) != moreHead) return false
  return (moreHead & 3) == KNOWN || equal(rest + 4, moreFrom, moreHead >>> 2)
}

/** Looks all up that wait. Each look-up waits for memory three times; here these waits are at the same time. */
function lookUp(): void {
  const to = (<usize>waiting) << 2
  for (let i: usize = 0; i < to; i += 4) {
    const slot = load<u32>(hashes + i) & slotMask
    store<u32>(ids + i, load<u32>(slots + ((<usize>slot) << 3), 4))
  }
  for (let i: usize = 0; i < to; i += 4) {
    const id = load<u32>(ids + i)
    store<u32>(ids + i, id == 0 ? 0 : load<u32>(termStarts + ((<usize>(id - 1)) << 2)))
  }
  let read: u32 = 0
  for (let i: usize = 0; i < to; i += 4) {
    const entry = words + ((<usize>load<u32>(ids + i)) << 2)
    read ^= load<u32>(entry) ^ load<u32>(entry, numbersAhead)
  }
  wasRead = read
  for (let i: usize = 0; i < to; i += 4) store<u32>(ids + i, add(i))
}

/** The id of a term that waits, or `none` where its hash has too many others. */
function add(at: usize): u32 {
  const from: usize = load<u32>(froms + at)
  const head = load<u32>(heads + at)
  const hash = load<u32>(hashes + at)
  const moreHead = load<u32>(moreHeads + at)
  const moreFrom: usize = load<u32>(moreFroms + at)
  let number = hash & slotMask
  for (let step: u32 = 0; step < mostSteps; step++) {
    const slot = slots + ((<usize>number) << 3)
    const id = load<u32>(slot, 4) - 1
    if (id == none) {
      store<u32>(slot, hash)
      store<u32>(slot, termCount + 1, 4)
      return append(from, head, hash, moreHead, moreFrom)
    }
    if (load<u32>(slot) == hash && isTerm(id, from, head, moreHead, moreFrom)) return id
    number = (number + 1) & slotMask
  }
  return none
}

function append(from: usize, head: u32, hash: u32, moreHead: u32, moreFrom: usize): u32 {
  const id = termCount++
  store<u32>(termHashes + ((<usize>id) << 2), hash)
  let at = appendText(words + ((<usize>wordLength) << 2), from, head)
  if ((head & 3) == ANNOTATED) {
    if ((moreHead & 3) != KNOWN) at = appendText(at, moreFrom, moreHead)
    else {
      store<u32>(at, moreHead)
      at += 4
    }
  }
  wordLength = <u32>((at - words) >>> 2)
  store<u32>(termStarts + ((<usize>id) << 2), wordLength, 4)
  return id
}

/** As encodeInto(); returns its end. */
function appendText(at: usize, from: usize, head: u32): usize {
  store<u32>(at, head)
  at += 4
  let length = head >>> 2
  for (; length >= 8; length -= 8, at += 8, from += 8) store<u64>(at, load<u64>(from))
  if (length == 0) return at
  store<u64>(at, load<u64>(from) & (((<u64>1) << ((<u64>length) << 3)) - 1))
  return at + ((length + 3) & -4)
}

/** Tells the ids of the first `n` triples, or of those before one with a term that has none. Returns where what follows begins. */
function tellOf(n: i32, at: usize): usize {
  for (let i: u32 = 0; i < givenCount; i++) {
    const slot: usize = load<u32>(given + ((<usize>i) << 3))
    const id = idOf(load<u32>(given + ((<usize>i) << 3), 4))
    if (id != none) store<u32>(slot, id + 1)
  }
  let to = told + ((<usize>count) << 2)
  for (let i = 0; i < n; i++, to += 4) {
    const name = names + ((<usize>i) << 4)
    const subject = idOf(load<u32>(name))
    const predicate = idOf(load<u32>(name, 4))
    const object = idOf(load<u32>(name, 8))
    if (subject == none || predicate == none || object == none) return load<u32>(name, 12)
    store<u32>(to, subject)
    store<u32>(to, predicate, 4 * mostTold)
    store<u32>(to, object, 8 * mostTold)
    count++
  }
  return at
}

function idOf(name: u32): u32 {
  return <i32>name < 0 ? ~name : load<u32>(ids + ((<usize>name) << 2))
}

/**
 * Copies the entries of the first `n` of `pairs` to `into`, one behind the other, up to one for which there is no room
 * before `until`. Returns how many. Where each ends is told in numbers, from the first one's beginning on, which is `base`.
 */
export function gather(n: u32, into: usize, until: usize, base: u32): u32 {
  let at = into
  annotatedCount = 0
  for (let first: u32 = 0; first < n; first += gatheredAtOnce) {
    const last = min(n, first + gatheredAtOnce)
    findEntries(first, last)
    for (let i = first; i < last; i++) {
      const place = (<usize>(i - first)) << 2
      let from: usize = load<u32>(froms + place)
      const to: usize = load<u32>(heads + place)
      if (at + (to - from) + 4 > until) return i
      if ((load<u32>(from) & 3) == ANNOTATED) {
        store<u32>(annotated + ((<usize>annotatedCount) << 2), i)
        annotatedCount++
      }
      for (; from < to; from += 8, at += 8) store<u64>(at, load<u64>(from))
      at -= from - to
      store<u32>(ends + ((<usize>i) << 2), base + <u32>((at - into) >>> 2))
      store<u32>(gatheredHashes + ((<usize>i) << 2), load<u32>(pairs + ((<usize>i) << 3)))
    }
  }
  return n
}

/** Where entries begin and end, to `froms` and `heads`. Each look waits for memory twice; here all do at the same time. */
function findEntries(first: u32, last: u32): void {
  for (let i = first; i < last; i++) {
    const place = (<usize>(i - first)) << 2
    const start = termStarts + ((<usize>load<u32>(pairs + ((<usize>i) << 3), 4)) << 2)
    store<u32>(froms + place, <u32>words + (load<u32>(start) << 2))
    store<u32>(heads + place, <u32>words + (load<u32>(start, 4) << 2))
  }
  let read: u32 = 0
  for (let place: usize = 0; place < (<usize>(last - first)) << 2; place += 4) {
    read ^= load<u32>(load<u32>(froms + place)) ^ load<u32>(load<u32>(heads + place) - 4)
  }
  wasRead = read
}
