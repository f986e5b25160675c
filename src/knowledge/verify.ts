// What has to hold of the partitions `cores` and `slices`: a core has its segments, each segment its
// slices or its bytes inline, counts and digests agree, the index of all that a user has says what the
// cores say, and nothing lies there that nobody names. Held are 8 bytes for each generation, segment and
// part, of at most so many at a time; where content is read, what the index of one core, or a merge of one part,
// takes in memory (200 MiB at most).

import { hasCode } from '../errors.js'
import type { PartName } from '../graph/index/keys.js'
import { decodeKey, keyPrefix } from '../keys.js'
import type { Entry } from '../storage.js'
import type { Finding, Source } from '../verify/finding.js'
import { NameSet, namesAtOnce } from '../verify/name-set.js'
import { verifyFormat, verifyKeys } from '../verify/partition-check.js'
import { Reading, tupleOf } from '../verify/reading.js'
import { givenOut, keyText, tupleText, type Report } from '../verify/report.js'
import {
  allGarbage,
  allGarbageParts,
  allStaged,
  contentKey,
  contentsOf,
  formatKey,
  formatVersion,
  segmentKey,
  segmentsOf,
  sliceKey,
  slicesOf,
  smallKey,
  smallsOf,
  partName,
  type CoreRecord,
  type LibraryRecord,
  type SegmentRecord,
  type StagedRecord,
} from './records.js'
import { chain, emptyDigest } from './core-import.js'
import { countNames, fieldOf, isCoreRecord, isSegmentRecord, partNamesIn } from './record-shapes.js'
import { LibraryCheck, type CheckedCore } from './library/verify-library.js'
import { bytesOf, segmentSlices, type PlacedSegment } from './segment-bytes.js'
import { SegmentContent } from './segment-content.js'
import { sliceBytes } from './segment-writer.js'

/** Keys of segments' contents that are looked up at a time. */
const keysAtOnce = 500

/** What follows in a key of each kind: numbers and strings. */
const shapes = new Map([
  ['format', ''],
  ['core', 'ss'],
  ['segment', 'sn'],
  ['small', 'sn'],
  ['content', 'ss'],
  ['library', 's'],
  ['waiting', 'ssn'],
  ['retired', 'ss'],
  ['garbage-part', 'sn'],
  ['staged', 's'],
  ['garbage', 's'],
  ['tick', 'snn'],
  ['slot', 'n'],
])

/** Kinds of records that give no name to anything. */
const nameless = [
  'format',
  'content',
  'small',
  'waiting',
  'retired',
  'member',
  'beat',
  'tick',
  'slot',
]

export async function* verifyKnowledge(
  sources: { readonly cores: Source; readonly slices: Source },
  report: Report,
): AsyncGenerator<Finding, void, undefined> {
  const cores = new Reading('cores', sources.cores, report)
  const slices = new Reading('slices', sources.slices, report)
  const check = new KnowledgeCheck(cores, slices, report)
  yield* givenOut(check.run(), report)
}

class KnowledgeCheck {
  readonly #cores: Reading
  readonly #slices: Reading
  readonly #report: Report
  readonly #library: LibraryCheck
  /** Names that are held to tell what nobody names: of generations, segments and parts. */
  #names = 0

  constructor(cores: Reading, slices: Reading, report: Report) {
    this.#cores = cores
    this.#slices = slices
    this.#report = report
    this.#library = new LibraryCheck(cores, slices, report)
  }

  /** Yields now and then, for what was found to be given out. */
  async *run(): AsyncGenerator<void, void, undefined> {
    await this.#readKeys()
    for await (const entry of this.#cores.entries(keyPrefix('library'))) {
      await this.#library.checkRecord(entry)
      yield
    }
    for await (const entry of this.#cores.entries(keyPrefix('core'))) {
      const core = this.#coreOf(entry)
      if (core !== undefined) yield* this.#checkCore(core)
    }
    const shares = Math.ceil(this.#names / namesAtOnce)
    for (let share = 0; share < shares; share++) yield* this.#checkNames(share, shares)
    if (shares === 0) yield* this.#checkNames(0, 1)
  }

  #error(code: Finding['code'], what: string, message: string): void {
    this.#report.error('cores', code, what, message)
  }

  async #readKeys(): Promise<void> {
    const counts = await verifyKeys(this.#cores, shapes)
    for (const [kind, count] of counts) {
      // Of cores the generations are held twice: with their users, too.
      if (!nameless.includes(kind)) this.#names += kind === 'core' ? 2 * count : count
    }
    if (counts.size > 0) await verifyFormat(this.#cores, formatKey(), 'version', formatVersion)
  }

  #coreOf(entry: Entry): CoreRecord | undefined {
    const [user, id] = tupleOf<[string, string]>(entry.key, 'ss') ?? []
    const core = this.#cores.record<CoreRecord>(entry)
    if (user === undefined || core === undefined) return undefined
    if (id !== undefined && isCoreRecord(core, user, id)) return core
    this.#cores.damaged(entry.key, 'it is not the record of this core')
    return undefined
  }

  // A core

  async *#checkCore(core: CoreRecord): AsyncGenerator<void, void, undefined> {
    const whose = `of core '${core.id}' of '${core.user}'`
    const sums = { bytes: 0, messages: 0, triples: 0, entities: 0, vectors: 0 }
    const segments: CheckedCore['segments'][number][] = []
    /** Segments that are not there, or not whole. */
    const lost = new Set<number>()
    /** Segments whose bytes lie inline. */
    const inline = new Set<number>()
    let digest = emptyDigest
    let contents: Uint8Array[] = []
    let next = 0
    const pass = (to: number) => {
      for (; next < to; next++) {
        lost.add(next)
        segments.push(undefined)
        const what = tupleText('segment', core.generation, next)
        this.#error('missing', what, `${whose}, which has ${core.segments} segments`)
      }
    }
    for await (const entry of this.#cores.entries(segmentsOf(core.generation))) {
      const [, n] = tupleOf<[string, number]>(entry.key, 'sn') ?? []
      if (n === undefined) continue
      const what = keyText(entry.key)
      if (n >= core.segments) {
        this.#error('unreferenced', what, `${whose}, which has ${core.segments} segments`)
        continue
      }
      pass(n)
      next++
      const segment = this.#segmentOf(entry)
      if (segment === undefined) {
        // It was told, and is there.
        lost.add(n)
        segments.push(undefined)
        continue
      }
      digest = n === 0 ? segment.digest : chain(digest, segment.digest)
      for (const name of countNames) sums[name] += segment[name]
      const { bytes, triples, vectors } = segment
      segments.push({ bytes, triples, vectors })
      contents.push(contentKey(core.generation, segment.digest))
      if (contents.length === keysAtOnce) {
        await this.#checkContents(contents, whose)
        contents = []
      }
      if (segment.inline !== undefined) inline.add(n)
      const placed = { generation: core.generation, n, segment }
      if (!(await this.#checkSegment(placed, what, whose))) lost.add(n)
      yield
    }
    pass(core.segments)
    for (const n of await this.#checkSmalls(core, inline, whose)) lost.add(n)
    await this.#checkContents(contents, whose)
    await this.#countContents(core, whose)
    if (segments.every((segment) => segment !== undefined)) {
      const what = tupleText('core', core.user, core.id)
      for (const name of countNames) {
        if (sums[name] === core[name]) continue
        this.#error(
          'different',
          what,
          `counts ${core[name]} ${name}; its segments have ${sums[name]}`,
        )
      }
      if (digest !== core.digest) {
        this.#error('different', what, 'its digest is not that of its segments')
      }
    }
    const read = (n: number) => this.#read(core, n)
    await this.#library.checkCore({ core, whose, segments, lost, read })
  }

  #segmentOf(entry: Entry): SegmentRecord | undefined {
    const segment = this.#cores.record<SegmentRecord>(entry)
    if (segment === undefined) return undefined
    if (isSegmentRecord(segment)) return segment
    this.#cores.damaged(entry.key, 'it is not the record of a segment')
    return undefined
  }

  async #checkContents(keys: readonly Uint8Array[], whose: string): Promise<void> {
    const found = await this.#cores.getMany(keys)
    for (const [n, key] of keys.entries()) {
      if (found[n] === undefined) this.#error('missing', keyText(key), `for a segment ${whose}`)
    }
  }

  /** A content that no segment has would make the import of it a duplicate. */
  async #countContents(core: CoreRecord, whose: string): Promise<void> {
    let contents = 0
    for await (const _ of this.#cores.entries({ ...contentsOf(core.generation), keysOnly: true })) {
      contents++
    }
    if (contents <= core.segments) return
    const message = `${whose}: ${contents} of them for ${core.segments} segments`
    this.#error('unreferenced', tupleText('content', core.generation), message)
  }

  /** Whether exactly those segments have bytes inline. Gives those that lack them. */
  async #checkSmalls(
    { generation }: CoreRecord,
    inline: ReadonlySet<number>,
    whose: string,
  ): Promise<ReadonlySet<number>> {
    const missing = new Set(inline)
    for await (const { key } of this.#cores.entries({ ...smallsOf(generation), keysOnly: true })) {
      const [, n] = tupleOf<[string, number]>(key, 'sn') ?? []
      if (n === undefined || missing.delete(n)) continue
      this.#error('unreferenced', keyText(key), `${whose}: no segment has its bytes there`)
    }
    for (const n of missing) {
      this.#error('missing', keyText(smallKey(generation, n)), `the bytes of a segment ${whose}`)
    }
    return missing
  }

  /** True where all of it is there; of bytes inline only `deep` is looked at here. */
  async #checkSegment(placed: PlacedSegment, what: string, whose: string): Promise<boolean> {
    if (placed.segment.inline === undefined) return this.#checkSlices(placed.segment, what, whose)
    if (!this.#report.deep) return true
    const { generation, n, segment } = placed
    const key = smallKey(generation, n)
    const stored = await this.#cores.get(key)
    // That it is missing is told with those of the others.
    if (stored === undefined) return false
    const content = new SegmentContent(segment)
    try {
      content.push(bytesOf(segment, stored))
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
      this.#cores.damaged(key, `${whose}: ${error.message}`)
      return false
    }
    return this.#isAsRecorded(segment, content, what, whose)
  }

  async #checkSlices(segment: SegmentRecord, what: string, whose: string): Promise<boolean> {
    const { id, slices } = segment
    const keys = Array.from({ length: slices }, (_, n) => n)
    const expected = function* () {
      for (const n of keys) yield sliceKey(id, n)
    }
    const place = `${what} ${whose}`
    if (!this.#report.deep) return this.#checkKeys(id, expected(), place)
    const content = new SegmentContent(segment)
    let isWhole = true
    const visit = (n: number, value: Uint8Array) => {
      const size = n < slices - 1 ? sliceBytes : segment.bytes - (slices - 1) * sliceBytes
      if (value.length !== size) {
        const message = `${place}: has ${value.length} bytes, not ${size}`
        this.#report.error('slices', 'different', tupleText(id, n), message)
        isWhole = false
      }
      content.push(value)
    }
    if (!(await this.#checkKeys(id, expected(), place, visit)) || !isWhole) return false
    return this.#isAsRecorded(segment, content, what, whose)
  }

  #isAsRecorded(
    segment: SegmentRecord,
    content: SegmentContent,
    what: string,
    whose: string,
  ): boolean {
    let isWhole = true
    const wrong = (message: string) => {
      isWhole = false
      this.#error('different', what, `${whose}: ${message}`)
    }
    const damage = content.damage()
    if (damage !== undefined) wrong(damage)
    const { counts } = content
    for (const name of countNames) {
      if (counts[name] !== segment[name] && isWhole) {
        wrong(`counts ${segment[name]} ${name}; there are ${counts[name]}`)
      }
    }
    return isWhole
  }

  /**
   * Whether exactly these values lie in the slices of a segment. Calls with those that
   * are, in their order, as long as none is missing.
   */
  async #checkKeys(
    id: string,
    expected: Iterable<Uint8Array>,
    whose: string,
    visit?: (n: number, value: Uint8Array) => void,
  ): Promise<boolean> {
    const awaited = expected[Symbol.iterator]()
    let next = awaited.next()
    let n = 0
    let isWhole = true
    const pass = (key: Uint8Array | undefined) => {
      while (next.done !== true && (key === undefined || Buffer.compare(next.value, key) < 0)) {
        isWhole = false
        this.#report.error('slices', 'missing', keyText(next.value), whose)
        next = awaited.next()
      }
    }
    for await (const page of this.#slices.pages({
      ...slicesOf(id),
      keysOnly: visit === undefined,
    })) {
      for (const { key, value } of page) {
        pass(key)
        if (next.done === true || Buffer.compare(next.value, key) !== 0) {
          const message = `${whose}, which does not have it`
          this.#report.error('slices', 'unreferenced', keyText(key), message)
          continue
        }
        next = awaited.next()
        if (isWhole) visit?.(n++, value)
      }
    }
    pass(undefined)
    return isWhole
  }

  /** The bytes of a segment as they were imported. */
  async *#read(core: CoreRecord, n: number): AsyncGenerator<Uint8Array, void, undefined> {
    const { generation } = core
    const key = segmentKey(generation, n)
    const value = await this.#cores.get(key)
    const segment = value && this.#cores.record<SegmentRecord>({ key, value })
    if (segment === undefined) return
    yield* segmentSlices({ cores: this.#cores, slices: this.#slices }, { generation, n, segment })
  }

  // What nobody names

  /** Looks at names of one share: whether something has each, and whether each is to stay. */
  async *#checkNames(share: number, shares: number): AsyncGenerator<void, void, undefined> {
    const live = new NameSet(share, shares)
    const garbage = new NameSet(share, shares)
    const named = new NameSet(share, shares)
    /** Generations with the names of their users. */
    const owned = new NameSet(share, shares)
    /** What parts were made under. */
    const works = new NameSet(share, shares)
    for await (const { key, value } of this.#cores.entries(keyPrefix('core'))) {
      const [user] = tupleOf<[string, string]>(key, 'ss') ?? []
      const generation = fieldOf(value, 'generation')
      if (generation === undefined) continue
      live.add(generation)
      if (user !== undefined) owned.add(tupleText(user, generation))
    }
    yield* this.#tellTwice(live, ['core'], 'generation')
    for await (const { key } of this.#cores.entries({ ...allGarbage(), keysOnly: true })) {
      const [generation] = tupleOf<[string]>(key, 's') ?? []
      if (generation === undefined || !live.covers(generation)) continue
      garbage.add(generation)
      if (live.has(generation)) this.#error('different', keyText(key), 'a core has that generation')
      else this.#report.leftover('cores', keyText(key), 'a core that was replaced or deleted')
    }
    for await (const { value } of this.#cores.entries(keyPrefix('segment'))) {
      const id = fieldOf(value, 'id')
      if (id !== undefined) named.add(id)
    }
    yield
    for await (const { part } of this.#parts()) {
      named.add(partName(part))
      works.add(part.id)
    }
    yield* this.#tellTwice(named, ['segment'], 'id')
    if (named.hasTwice) {
      for await (const { part, key } of this.#parts()) {
        const name = partName(part)
        if (!named.covers(name) || !named.isTwice(name)) continue
        this.#error('duplicate', keyText(key), `a part is named twice, '${name}'`)
      }
    }
    // What is on its way is little: it is in all shares.
    const staged = new NameSet()
    for await (const entry of this.#cores.entries(allStaged())) {
      const [id] = tupleOf<[string]>(entry.key, 's') ?? []
      if (id === undefined) continue
      staged.add(id)
      if (!named.covers(id)) continue
      const { state } = this.#cores.record<StagedRecord>(entry) ?? {}
      if (state !== 'importing' && state !== 'discarded') {
        this.#cores.damaged(entry.key, 'it does not say what becomes of it')
      } else if (named.has(id) || works.has(id)) {
        const who = named.has(id) ? 'a core' : 'an index'
        this.#error('different', keyText(entry.key), `${who} has it, and opening would delete it`)
      } else this.#report.leftover('cores', keyText(entry.key), 'a segment or an index on its way')
    }
    for await (const { key } of this.#cores.entries({ ...allGarbageParts(), keysOnly: true })) {
      const [id, number] = tupleOf<[string, number]>(key, 'sn') ?? []
      if (id === undefined || number === undefined) continue
      const name = partName({ id, number })
      staged.add(name)
      if (!named.covers(name)) continue
      if (named.has(name)) {
        this.#error('different', keyText(key), 'an index has it, and opening would delete it')
      } else this.#report.leftover('cores', keyText(key), 'a part that was merged')
    }
    yield
    yield* this.#checkGenerations(live, garbage)
    yield* this.#checkUsers(live, owned)
    let last: unknown
    for await (const page of this.#slices.pages({ keysOnly: true })) {
      for (const { key } of page) {
        const { id, name } = nameIn(key) ?? {}
        if (id === undefined || name === undefined) {
          if (share === 0) this.#report.error('slices', 'unknown', keyText(key), 'a key of no kind')
          continue
        }
        if (name === last || !named.covers(name)) continue
        last = name
        if (named.has(name) || staged.has(id) || staged.has(name)) continue
        const message = 'and what comes behind it under that name: no segment and no index has it'
        this.#report.error('slices', 'unreferenced', keyText(key), message)
      }
      yield
    }
  }

  /** Records of generations: whether a core has each, or had it. */
  async *#checkGenerations(live: NameSet, garbage: NameSet): AsyncGenerator<void, void, undefined> {
    for (const kind of ['segment', 'small', 'content']) {
      let last: string | undefined
      for await (const { key } of this.#cores.entries({ ...keyPrefix(kind), keysOnly: true })) {
        const [generation] = tupleOf<[string]>(key, shapes.get(kind) ?? '') ?? []
        if (generation === undefined || generation === last || !live.covers(generation)) continue
        last = generation
        if (live.has(generation) || garbage.has(generation)) continue
        this.#error('unreferenced', keyText(key), 'no core has that generation')
      }
      yield
    }
  }

  /** What libraries say of generations: what waits is of cores, and what was given up of none. */
  async *#checkUsers(live: NameSet, owned: NameSet): AsyncGenerator<void, void, undefined> {
    let last: string | undefined
    for await (const { key } of this.#cores.entries({ ...keyPrefix('waiting'), keysOnly: true })) {
      const [user, generation] = tupleOf<[string, string, number]>(key, 'ssn') ?? []
      if (user === undefined || generation === undefined) continue
      const name = tupleText(user, generation)
      if (name === last || !owned.covers(name)) continue
      last = name
      if (owned.has(name)) continue
      this.#error('unreferenced', keyText(key), `no core of '${user}' has that generation`)
    }
    yield
    for await (const { key } of this.#cores.entries({ ...keyPrefix('retired'), keysOnly: true })) {
      const [, generation] = tupleOf<[string, string]>(key, 'ss') ?? []
      if (generation === undefined || !live.covers(generation) || !live.has(generation)) continue
      this.#error('different', keyText(key), 'a core has that generation')
    }
    yield
  }

  /** The parts of all libraries, and the key of the record that has each. */
  async *#parts(): AsyncGenerator<{ readonly part: PartName; readonly key: Uint8Array }> {
    for await (const entry of this.#cores.entries(keyPrefix('library'))) {
      const record = this.#cores.record<LibraryRecord>(entry)
      if (record === undefined) continue
      for (const part of partNamesIn(record)) yield { part, key: entry.key }
    }
  }

  /** What two records name goes when one of them goes. */
  async *#tellTwice(
    names: NameSet,
    kinds: readonly string[],
    field: string,
  ): AsyncGenerator<void, void, undefined> {
    yield
    if (!names.hasTwice) return
    for (const kind of kinds) {
      for await (const { key, value } of this.#cores.entries(keyPrefix(kind))) {
        const name = fieldOf(value, field)
        if (name === undefined || !names.covers(name) || !names.isTwice(name)) continue
        this.#error('duplicate', keyText(key), `another record has its ${field}, '${name}', too`)
        yield
      }
    }
  }
}

/** The name of the segment or part that a value belongs to. */
function nameIn(key: Uint8Array): { readonly id: string; readonly name: string } | undefined {
  try {
    const [id, number, ...rest] = decodeKey(key)
    const isOurs = typeof number === 'number' && rest.every((one) => typeof one === 'number')
    if (typeof id !== 'string' || !isOurs) return undefined
    return { id, name: rest.length === 0 ? id : partName({ id, number }) }
  } catch {
    return undefined
  }
}
