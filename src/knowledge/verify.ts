// What has to hold of the partitions `cores` and `slices`: a core has its segments, each segment its
// slices or its bytes inline, counts and digests agree, indexes are those of their segments, and nothing lies there that
// no core names. Held are 8 bytes for each generation, segment and index, of at most so many at a
// time, and what making an index holds (150 MiB at most) where indexes are made anew to compare them.

import type { BlockStorage } from '../block-writer.js'
import { linkBlocksOf } from '../graph/vectors/links.js'
import { blocksOf } from '../graph/vectors/types.js'
import { linksKey, mainKey, vectorKey } from '../graph/index/keys.js'
import { blockBytes, layoutOf, type PartRecord } from '../graph/index/layout.js'
import { IndexBuilder, linkParts } from '../graph/index/index-builder.js'
import { hasCode } from '../errors.js'
import { decodeKey, keyPrefix } from '../keys.js'
import type { Entry, Operation } from '../storage.js'
import type { Finding, Source } from '../verify/finding.js'
import { NameSet, namesAtOnce } from '../verify/name-set.js'
import { verifyFormat, verifyKeys } from '../verify/partition-check.js'
import { Reading, tupleOf } from '../verify/reading.js'
import { givenOut, keyText, tupleText, type Report } from '../verify/report.js'
import {
  allGarbage,
  allStaged,
  contentKey,
  contentsOf,
  formatKey,
  formatVersion,
  indexesOf,
  segmentKey,
  segmentsOf,
  sliceKey,
  slicesOf,
  smallKey,
  smallsOf,
  type CoreRecord,
  type IndexRecord,
  type SegmentRecord,
  type StagedRecord,
} from './records.js'
import { chain, emptyDigest } from './core-import.js'
import {
  countNames,
  fieldOf,
  isCoreRecord,
  isIndexRecord,
  isSegmentRecord,
} from './record-shapes.js'
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
  ['index', 'sn'],
  ['staged', 's'],
  ['garbage', 's'],
])

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
  /** Names that are held to tell what nobody names: of generations, segments and indexes. */
  #names = 0

  constructor(cores: Reading, slices: Reading, report: Report) {
    this.#cores = cores
    this.#slices = slices
    this.#report = report
  }

  /** Yields now and then, for what was found to be given out. */
  async *run(): AsyncGenerator<void, void, undefined> {
    await this.#readKeys()
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
      if (!['format', 'content', 'small'].includes(kind)) this.#names += count
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
    const sizes: number[] = []
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
        sizes.push(0)
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
        sizes.push(0)
        continue
      }
      digest = n === 0 ? segment.digest : chain(digest, segment.digest)
      for (const name of countNames) sums[name] += segment[name]
      sizes.push(segment.bytes)
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
    if (![...lost].some((n) => sizes[n] === 0)) {
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
    yield* this.#checkIndexes(core, whose, sizes, lost)
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
   * Whether exactly these values lie in the slices of a segment or an index. Calls with those that
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

  // Its indexes

  async *#checkIndexes(
    core: CoreRecord,
    whose: string,
    sizes: readonly number[],
    lost: ReadonlySet<number>,
  ): AsyncGenerator<void, void, undefined> {
    let covered = 0
    for await (const entry of this.#cores.entries(indexesOf(core.generation))) {
      const [, from] = tupleOf<[string, number]>(entry.key, 'sn') ?? []
      const record = this.#cores.record<IndexRecord>(entry)
      if (from === undefined || record === undefined) continue
      const what = keyText(entry.key)
      if (!isIndexRecord(record)) {
        this.#cores.damaged(entry.key, 'it is not the record of an index')
        continue
      }
      const { id, to, sourceBytes, parts } = record
      if (from < covered || to <= from || to > core.segments) {
        const message = `${whose}: of segments ${from} to ${to}; there are ${core.segments}, and those up to ${covered} are indexed`
        this.#error('different', what, message)
      }
      covered = Math.max(covered, to)
      let bytes = 0
      let isLost = false
      for (let n = from; n < to; n++) {
        bytes += sizes[n] ?? 0
        if (lost.has(n)) isLost = true
      }
      if (!isLost && bytes !== sourceBytes) {
        this.#error(
          'different',
          what,
          `${whose}: says ${sourceBytes} bytes of segments, not ${bytes}`,
        )
      }
      const isThere = await this.#checkKeys(id, blockKeys(id, parts), `${what} ${whose}`)
      if (this.#report.deep && isThere && !isLost) {
        await this.#rebuild(core, from, record, what, whose)
      }
      yield
    }
  }

  /** The same segments give the same index: it is made anew and compared, not stored. */
  async #rebuild(
    core: CoreRecord,
    from: number,
    record: IndexRecord,
    what: string,
    whose: string,
  ): Promise<void> {
    const { id, to, parts } = record
    const { signal } = this.#report
    const storage = new ComparedBlocks(this.#slices, (key) => {
      const message = `${what} ${whose}: is not what its segments give`
      this.#report.error('slices', 'different', keyText(key), message)
    })
    const builder = new IndexBuilder(storage, id, signal)
    try {
      for (let n = from; n < to; n++) {
        const key = segmentKey(core.generation, n)
        const value = await this.#cores.get(key)
        const segment = value && this.#cores.record<SegmentRecord>({ key, value })
        if (segment === undefined) continue
        const places = { cores: this.#cores, slices: this.#slices }
        const { generation } = core
        for await (const bytes of segmentSlices(places, { generation, n, segment })) {
          builder.push(bytes)
          await builder.ready()
        }
      }
      const made = await builder.finish()
      await builder.end()
      const unlinked = (all: readonly PartRecord[]) =>
        JSON.stringify(all, (name, value: unknown) => (name === 'links' ? 0 : value))
      if (unlinked(made) !== unlinked(parts)) {
        this.#error('different', what, `${whose}: its parts are not those that its segments give`)
        return
      }
      // Those without approximate indexes are not to get any.
      const wanted = parts.map((part) => {
        const vectors = part.vectors.map((file) => ({ ...file, links: file.links === 0 ? 1 : 0 }))
        return { ...part, vectors }
      })
      const linked = await linkParts(storage, id, wanted, {
        signal,
        onProgress: undefined,
        minLinked: 1,
      })
      const isSame = linked.every(({ vectors }, n) =>
        vectors.every(({ links }, at) => {
          const stored = parts[n]?.vectors[at]?.links
          return stored === 0 || stored === links
        }),
      )
      if (!isSame) {
        const message = `${whose}: its approximate indexes are not those that its vectors give`
        this.#error('different', what, message)
      }
    } catch (error) {
      // What cannot be read was told.
      if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
    } finally {
      await builder.end()
    }
  }

  // What nobody names

  /** Looks at names of one share: whether something has each, and whether each is to stay. */
  async *#checkNames(share: number, shares: number): AsyncGenerator<void, void, undefined> {
    const live = new NameSet(share, shares)
    const garbage = new NameSet(share, shares)
    const named = new NameSet(share, shares)
    const staged = new NameSet(share, shares)
    for await (const { value } of this.#cores.entries(keyPrefix('core'))) {
      const generation = fieldOf(value, 'generation')
      if (generation !== undefined) live.add(generation)
    }
    yield* this.#tellTwice(live, ['core'], 'generation')
    for await (const { key } of this.#cores.entries({ ...allGarbage(), keysOnly: true })) {
      const [generation] = tupleOf<[string]>(key, 's') ?? []
      if (generation === undefined || !live.covers(generation)) continue
      garbage.add(generation)
      if (live.has(generation)) this.#error('different', keyText(key), 'a core has that generation')
      else this.#report.leftover('cores', keyText(key), 'a core that was replaced or deleted')
    }
    for (const kind of ['segment', 'index']) {
      for await (const { value } of this.#cores.entries(keyPrefix(kind))) {
        const id = fieldOf(value, 'id')
        if (id !== undefined) named.add(id)
      }
      yield
    }
    yield* this.#tellTwice(named, ['segment', 'index'], 'id')
    for await (const entry of this.#cores.entries(allStaged())) {
      const [id] = tupleOf<[string]>(entry.key, 's') ?? []
      if (id === undefined || !staged.covers(id)) continue
      staged.add(id)
      const { state } = this.#cores.record<StagedRecord>(entry) ?? {}
      if (state !== 'importing' && state !== 'discarded') {
        this.#cores.damaged(entry.key, 'it does not say what becomes of it')
      } else if (named.has(id)) {
        this.#error('different', keyText(entry.key), 'a core has it, and opening would delete it')
      } else this.#report.leftover('cores', keyText(entry.key), 'a segment or an index on its way')
    }
    yield
    for (const kind of ['segment', 'small', 'content', 'index']) {
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
    let last: unknown
    for await (const page of this.#slices.pages({ keysOnly: true })) {
      for (const { key } of page) {
        const id = nameIn(key)
        if (id === undefined) {
          if (share === 0) this.#report.error('slices', 'unknown', keyText(key), 'a key of no kind')
          continue
        }
        if (id === last || !named.covers(id)) continue
        last = id
        if (named.has(id) || staged.has(id)) continue
        const message = 'and what comes behind it under that name: no segment and no index has it'
        this.#report.error('slices', 'unreferenced', keyText(key), message)
      }
      yield
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

/** Takes writes for comparisons: what is made anew has to be what lies there. */
class ComparedBlocks implements BlockStorage {
  readonly #slices: Reading
  readonly #differs: (key: Uint8Array) => void

  constructor(slices: Reading, differs: (key: Uint8Array) => void) {
    this.#slices = slices
    this.#differs = differs
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#slices.get(key)
  }

  async write(operations: readonly Operation[]): Promise<void> {
    for (const operation of operations) {
      const stored = await this.#slices.get(operation.key)
      // That it is not there, or cannot be read, was told.
      if (stored === undefined || operation.type === 'del') continue
      if (Buffer.compare(stored, operation.value) !== 0) this.#differs(operation.key)
    }
  }
}

/** The keys of all blocks of an index, in their order. */
function* blockKeys(id: string, parts: readonly PartRecord[]): Generator<Uint8Array> {
  for (const [n, part] of parts.entries()) {
    for (let at = 0; at * blockBytes < layoutOf(part).end; at++) yield mainKey(id, n, at)
    for (const { dimensions, count } of part.vectors) {
      const blocks = blocksOf(dimensions, count)
      for (let at = 0; at < blocks; at++) yield vectorKey(id, n, dimensions, at)
    }
    for (const { dimensions, count, links } of part.vectors) {
      const blocks = linkBlocksOf(dimensions, count, links)
      for (let at = 0; at < blocks; at++) yield linksKey(id, n, dimensions, at)
    }
  }
}

/** The name of the segment or index that a value belongs to. */
function nameIn(key: Uint8Array): string | undefined {
  try {
    const [name, ...rest] = decodeKey(key)
    const isOurs = rest.length > 0 && rest.every((element) => typeof element === 'number')
    return typeof name === 'string' && isOurs ? name : undefined
  } catch {
    return undefined
  }
}
