// What is whole of damaged cores, written anew. A segment is kept or dropped as a whole; indexes are
// derived, and made again by whoever asks. Held are 8 bytes for each core, segment and index.

import { readableNow } from '../damage.js'
import { decodeKey, keyPrefix } from '../keys.js'
import { encodeRecord } from '../record.js'
import type { Entry, Operation, Storage } from '../storage.js'
import type { Finding, FindingCode, Source } from '../verify/finding.js'
import { NameSet } from '../verify/name-set.js'
import { Reading, tupleOf } from '../verify/reading.js'
import { givenOut, keyText, tupleText, type Report } from '../verify/report.js'
import { emptyCore, extend } from './core-import.js'
import { countNames, fieldOf, isCoreRecord, isSegmentRecord } from './record-shapes.js'
import {
  allGarbage,
  allStaged,
  contentKey,
  coreKey,
  createId,
  formatKey,
  formatVersion,
  segmentAt,
  segmentKey,
  segmentsOf,
  sliceKey,
  slicesOf,
  smallKey,
  waitingKey,
  type CoreRecord,
  type SegmentRecord,
  type WaitingRecord,
} from './records.js'
import { piecesOf, unpacked, type PlacedSegment } from './segment-bytes.js'
import { SegmentContent } from './segment-content.js'
import { ownerOf } from './segment-owner.js'
import { sliceBytes } from './segment-writer.js'
import type { CoreCounts, CoreRef } from './types.js'

export interface SalvagedCores {
  cores: number
  segments: number
  bytes: number
}

interface Places<S> {
  readonly cores: S
  readonly slices: S
}

/** Gives out what it leaves behind, or corrects, as it comes to it. */
export async function* salvageKnowledge(
  from: Places<Source>,
  to: Places<Storage>,
  report: Report,
): AsyncGenerator<Finding, SalvagedCores, undefined> {
  const salvage = new CoreSalvage(from, to, report)
  yield* givenOut(salvage.run(), report)
  return salvage.kept
}

class CoreSalvage {
  readonly kept: SalvagedCores = { cores: 0, segments: 0, bytes: 0 }
  readonly #cores: Reading
  readonly #slices: Reading
  readonly #to: Places<Storage>
  readonly #report: Report
  /** Those that a core names, or that were deleted. */
  readonly #generations = new NameSet()
  /** Of segments. */
  readonly #ids = new NameSet()

  constructor(from: Places<Source>, to: Places<Storage>, report: Report) {
    this.#cores = new Reading('cores', from.cores, report)
    this.#slices = new Reading('slices', from.slices, report)
    this.#to = to
    this.#report = report
  }

  /** Yields now and then, for what was found to be given out. */
  async *run(): AsyncGenerator<void, void, undefined> {
    const format = encodeRecord({ version: formatVersion })
    await this.#put([{ type: 'put', key: formatKey(), value: format }])
    for await (const entry of this.#cores.entries(keyPrefix('core'))) {
      const core = this.#coreOf(entry)
      if (core !== undefined) this.#generations.add(core.generation)
      yield
    }
    for await (const { value } of this.#cores.entries(keyPrefix('segment'))) {
      const id = fieldOf(value, 'id')
      if (id !== undefined) this.#ids.add(id)
    }
    yield
    for await (const entry of this.#cores.entries(keyPrefix('core'))) {
      const core = this.#coreOf(entry)
      if (core !== undefined) yield* this.#takeCore(core)
      yield
    }
    for await (const { key } of this.#cores.entries({ ...allGarbage(), keysOnly: true })) {
      const [generation] = tupleOf<[string]>(key, 's') ?? []
      if (generation !== undefined) this.#generations.add(generation)
    }
    yield* this.#copyNameless()
    yield* this.#tellUnclaimed()
  }

  #coreOf(entry: Entry): CoreRecord | undefined {
    const [user, id] = tupleOf<[string, string]>(entry.key, 'ss') ?? []
    const core = this.#cores.record<CoreRecord>(entry)
    if (user === undefined || id === undefined || core === undefined) return undefined
    if (isCoreRecord(core, user, id)) return core
    this.#cores.damaged(entry.key, 'it is not the record of this core')
    return undefined
  }

  async *#takeCore(core: CoreRecord): AsyncGenerator<void, void, undefined> {
    const { user, id, generation } = core
    if (this.#generations.isTwice(generation)) {
      // Each message says whose it is.
      const name = await this.#nameOf(generation)
      if (name?.user !== user || name.id !== id) {
        const message = `core '${id}' of '${user}': it names the segments of another core`
        this.#tell('lost', tupleText('core', user, id), message)
        return
      }
    }
    yield* this.#copyCore(core, generation, core)
  }

  /** Segments of a core whose own record is lost: each of their messages names it. */
  async *#copyNameless(): AsyncGenerator<void, void, undefined> {
    let last: string | undefined
    for await (const { key } of this.#cores.entries({ ...keyPrefix('segment'), keysOnly: true })) {
      const [generation] = tupleOf<[string, number]>(key, 'sn') ?? []
      if (generation === undefined || generation === last) continue
      last = generation
      if (this.#generations.has(generation)) continue
      const name = await this.#nameOf(generation)
      const isTaken = name && (await this.#to.cores.get(coreKey(name))) !== undefined
      if (name !== undefined && isTaken === false) {
        yield* this.#copyCore(name, generation, undefined)
      } else {
        const what = tupleText('segment', generation)
        const message = isTaken
          ? `segments that no core has, of the name '${name?.id}' of '${name?.user}', which another has`
          : 'segments of a core whose name is lost'
        this.#tell('lost', what, message)
      }
      yield
    }
  }

  /** Bytes whose segment's own record is lost: how many there were, and their digest, is not known. */
  async *#tellUnclaimed(): AsyncGenerator<void, void, undefined> {
    const claimed = new NameSet()
    for await (const { value } of this.#cores.entries(keyPrefix('segment'))) {
      const id = fieldOf(value, 'id')
      if (id !== undefined) claimed.add(id)
    }
    yield
    for await (const { key } of this.#cores.entries({ ...allStaged(), keysOnly: true })) {
      const [id] = tupleOf<[string]>(key, 's') ?? []
      if (id !== undefined) claimed.add(id)
    }
    yield* this.#tellUnclaimedSmalls()
    let last: string | undefined
    for await (const page of this.#slices.pages({ keysOnly: true })) {
      for (const { key } of page) {
        const id = segmentIn(key)
        if (id === undefined || id === last) continue
        last = id
        if (claimed.has(id)) continue
        const message =
          'and what comes behind it under that name: the record of the segment is lost'
        this.#report.error('slices', 'lost', keyText(key), message)
      }
      yield
    }
  }

  async *#tellUnclaimedSmalls(): AsyncGenerator<void, void, undefined> {
    for await (const page of this.#cores.pages({ ...keyPrefix('small'), keysOnly: true })) {
      for (const { key } of page) {
        const [generation, n] = tupleOf<[string, number]>(key, 'sn') ?? []
        if (generation === undefined || n === undefined) continue
        if (await this.#cores.has(segmentKey(generation, n))) continue
        this.#tell('lost', keyText(key), 'the record of the segment is lost')
      }
      yield
    }
  }

  async *#copyCore(
    name: CoreRef,
    generation: string,
    core: CoreRecord | undefined,
  ): AsyncGenerator<void, void, undefined> {
    const whose = `core '${name.id}' of '${name.user}'`
    let copy = core?.segments === 0 ? emptyCore(name, generation, core) : undefined
    let found = 0
    let isWhole = true
    for await (const entry of this.#cores.entries(segmentsOf(generation))) {
      const read = this.#segmentOf(entry)
      if (read === undefined) continue
      found++
      const from = { generation, n: segmentAt(entry.key), segment: read }
      const segment = await this.#whole(from, keyText(entry.key), whose)
      if (segment === undefined) {
        isWhole = false
        yield
        continue
      }
      copy ??= emptyCore(name, generation, segment)
      const bytes = await this.#copyBytes(from, copy.segments)
      const key = segmentKey(generation, copy.segments)
      copy = extend(copy, segment)
      this.kept.segments++
      await this.#put([
        ...bytes,
        { type: 'put', key, value: encodeRecord(segment) },
        waitingIn(name, generation, copy.segments - 1, segment),
        { type: 'put', key: contentKey(generation, segment.digest), value: new Uint8Array(0) },
      ])
      yield
    }
    if (core !== undefined && found < core.segments) {
      isWhole = false
      const message = `${whose}: ${core.segments - found} of its ${core.segments} segments are gone`
      this.#tell('lost', tupleText('segment', generation), message)
    }
    const what = tupleText('core', name.user, name.id)
    if (copy === undefined) {
      this.#tell('lost', what, `${whose}: none of its segments is whole`)
      return
    }
    if (core !== undefined && isWhole && !isAlike(core, copy)) {
      this.#tell('different', what, `${whose}: it counts what its segments come to from now on`)
    }
    const times = core === undefined ? {} : { createdAt: core.createdAt, updatedAt: core.updatedAt }
    await this.#put([
      { type: 'put', key: coreKey(name), value: encodeRecord({ ...copy, ...times }) },
    ])
    this.kept.cores++
    this.kept.bytes += copy.bytes
  }

  #segmentOf(entry: Entry): SegmentRecord | undefined {
    if (tupleOf(entry.key, 'sn') === undefined) return undefined
    const segment = this.#cores.record<SegmentRecord>(entry)
    if (segment === undefined || isSegmentRecord(segment)) return segment
    this.#cores.damaged(entry.key, 'it is not the record of a segment')
    return undefined
  }

  /** The segment with the counts that its slices come to; `undefined` where it is not whole. */
  async #whole(
    placed: PlacedSegment,
    what: string,
    whose: string,
  ): Promise<SegmentRecord | undefined> {
    const { segment } = placed
    const counts = await this.#countsOf(placed)
    if (counts === undefined) {
      const message = `${whose}: a segment of ${segment.bytes} bytes, not whole`
      this.#tell('lost', what, message)
      return undefined
    }
    if (await this.#isCopied(segment)) {
      this.#tell('lost', what, `${whose}: its slices are those of another segment`)
      return undefined
    }
    for (const name of countNames) {
      if (counts[name] === segment[name]) continue
      const message = `${whose}: counted ${segment[name]} ${name}, and counts the ${counts[name]} that there are from now on`
      this.#tell('different', what, message)
    }
    // The bytes of a small one do not lie under its id, and are its own all the same.
    const isTwice = segment.inline !== undefined && this.#ids.isTwice(segment.id)
    if (!isTwice) return { ...segment, ...counts }
    this.#tell(
      'different',
      what,
      `${whose}: another segment has its id, and it has a new one from now on`,
    )
    return { ...segment, ...counts, id: createId(Date.now()) }
  }

  async #countsOf(placed: PlacedSegment): Promise<CoreCounts | undefined> {
    const pieces = piecesOf(placed.segment)
    const content = new SegmentContent(placed.segment)
    for (let piece = 0; piece < pieces; piece++) {
      const slice = await this.#read(placed, piece)
      if (slice === undefined || slice.length === 0 || slice.length > sliceBytes) return undefined
      if (piece < pieces - 1 && slice.length < sliceBytes) return undefined
      content.push(slice)
    }
    return content.damage() === undefined ? content.counts : undefined
  }

  /** However many bytes the record counts: that is corrected. `undefined` also for what is damaged. */
  async #read(
    { generation, n, segment }: PlacedSegment,
    piece: number,
  ): Promise<Uint8Array | undefined> {
    if (segment.inline === undefined) return this.#slices.get(sliceKey(segment.id, piece))
    const stored = await this.#cores.get(smallKey(generation, n))
    const { inline } = segment
    // Damage is told with its segment.
    return readableNow(() => stored && unpacked(inline, stored))
  }

  async #isCopied({ id }: SegmentRecord): Promise<boolean> {
    for await (const _ of this.#to.slices.scan({ ...slicesOf(id), keysOnly: true, limit: 1 })) {
      return true
    }
    return false
  }

  /** Copies the slices of a segment; gives what is to be written with its record, at its new place. */
  async #copyBytes({ generation, n, segment }: PlacedSegment, place: number): Promise<Operation[]> {
    if (segment.inline !== undefined) {
      const value = await expected(this.#cores, smallKey(generation, n))
      return [{ type: 'put', key: smallKey(generation, place), value }]
    }
    for (let slice = 0; slice < segment.slices; slice++) {
      const key = sliceKey(segment.id, slice)
      const value = await expected(this.#slices, key)
      await this.#to.slices.write([{ type: 'put', key, value }], { durable: true })
    }
    return []
  }

  /** Whose core it is, by the first message that can be read. */
  async #nameOf(generation: string): Promise<CoreRef | undefined> {
    for await (const entry of this.#cores.entries(segmentsOf(generation))) {
      const segment = this.#segmentOf(entry)
      const n = segmentAt(entry.key)
      if (segment === undefined) continue
      const placed = { generation, n, segment }
      const name = await ownerOf(piecesOf(segment), (piece) => this.#read(placed, piece))
      if (name !== undefined) return name
    }
    return undefined
  }

  async #put(operations: readonly Operation[]): Promise<void> {
    await this.#to.cores.write(operations, { durable: true })
  }

  #tell(code: FindingCode, what: string, message: string): void {
    this.#report.error('cores', code, what, message)
  }
}

/** Nothing of it is indexed. */
function waitingIn(
  { user, id }: CoreRef,
  generation: string,
  n: number,
  { bytes, inline }: SegmentRecord,
): Operation {
  const waiting: WaitingRecord = { core: id, bytes, isSoon: inline !== undefined }
  return { type: 'put', key: waitingKey(user, generation, n), value: encodeRecord(waiting) }
}

async function expected(reading: Reading, key: Uint8Array): Promise<Uint8Array> {
  const value = await reading.get(key)
  if (value === undefined) throw new Error(`${keyText(key)} was there a moment ago`)
  return value
}

function isAlike(core: CoreRecord, copy: CoreRecord): boolean {
  const isSameDigest = core.digest === copy.digest && core.segments === copy.segments
  return isSameDigest && countNames.every((name) => core[name] === copy[name])
}

/** The segment that a slice is of; `undefined` for what is none, as a block of an index. */
function segmentIn(key: Uint8Array): string | undefined {
  try {
    const [id, n, ...rest] = decodeKey(key)
    return typeof id === 'string' && typeof n === 'number' && rest.length === 0 ? id : undefined
  } catch {
    return undefined
  }
}
