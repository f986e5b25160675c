import { asTrustgraph } from '../codec/dialects/as-trustgraph.js'
import type { ExportDialect } from '../codec/dialects/names.js'
import { hasCode, LorekeepError } from '../errors.js'
import { deletedMeanwhile } from '../presence.js'
import type { InFlight } from '../in-flight.js'
import type { Storage } from '../storage.js'
import { segmentAt, segmentKey, type CoreRecord, type SegmentRecord } from './records.js'
import { sliceBytes } from './segment-writer.js'
import { piecesOf, readPiece, type SegmentPlaces } from './segment-bytes.js'
import { decodeRecord } from '../record.js'
import type { CoreExport } from './types.js'

/** Slices that are read ahead of the one being handed out, of a MiB each. */
const readAhead = 6
/** Those of all exports of the process. One that gets none reads each slice when it is wanted. */
const maxAhead = 24
let aheadOfAll = 0

/**
 * A reader that pauses for two of these has nothing read ahead for it: it holds the slice that it
 * is at. One look for many slices: a timer for each made exports a tenth slower.
 */
const lookMs = 125

interface ExportParts {
  readonly core: CoreRecord
  readonly dialect: ExportDialect
  /** Of its bytes, `to` not among them. */
  readonly range: { readonly from: number; readonly to: number }
  readonly cores: Storage
  readonly slices: Storage
  readonly inFlight: InFlight
  readonly signal: AbortSignal | undefined
  /** Lets go of the core's generation. */
  readonly release: () => void
  /** Whether it may be that others have deleted it, though it is held. */
  readonly isGone: () => Promise<boolean>
}

/** An export, or an iteration of it, that was dropped still has to let go of its generation. */
const dropped = new FinalizationRegistry<ExportHold>((hold) => hold.end())

/** Holds the pin of one generation until it is read, closed or dropped, and reads a few slices ahead. */
export function createCoreExport(parts: ExportParts): CoreExport {
  const { generation: _, ...stat } = parts.core
  const hold = new ExportHold(parts)
  let used = false
  const coreExport: CoreExport = {
    ...stat,
    [Symbol.asyncIterator]: () => {
      if (used) throw new TypeError('an export can be read once; ask for another one')
      used = true
      dropped.unregister(hold)
      const stored = untilGone(readChunks(parts, hold), parts.isGone)
      const isStored = parts.dialect === 'specification'
      const iterator = guard(isStored ? stored : asTrustgraph(stored, parts.signal), hold)
      dropped.register(iterator, hold, hold)
      return iterator
    },
    close: () => {
      used = true
      dropped.unregister(hold)
      hold.end(new LorekeepError('LK_CLOSED', 'the export was closed'))
    },
    [Symbol.dispose]: () => coreExport.close(),
  }
  dropped.register(coreExport, hold, hold)
  return coreExport
}

/** What an export has hold of: the pin of its generation and, while it is read, a place among the work in flight. */
class ExportHold {
  readonly #parts: ExportParts
  #endWork: (() => void) | undefined
  #ended: { readonly reason: unknown } | undefined

  constructor(parts: ExportParts) {
    this.#parts = parts
  }

  /** A reader that pauses keeps a store from closing only until the store runs out of patience. */
  begin(): void {
    const { inFlight } = this.#parts
    this.check()
    this.#endWork = inFlight.begin()
    inFlight.signal.addEventListener('abort', this.#onAbort)
  }

  check(): void {
    this.#parts.signal?.throwIfAborted()
    if (this.#ended) throw this.#ended.reason
  }

  end(reason: unknown = new LorekeepError('LK_CLOSED', 'the export has ended')): void {
    if (this.#ended) return
    this.#ended = { reason }
    this.#parts.inFlight.signal.removeEventListener('abort', this.#onAbort)
    this.#parts.release()
    this.#endWork?.()
  }

  readonly #onAbort = () => this.end(this.#parts.inFlight.signal.reason)
}

/** An object of its own, which a consumer can drop while the generator behind it is suspended. */
function guard(
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
  hold: ExportHold,
): AsyncGenerator<Uint8Array, void, undefined> {
  // A generator that was not started runs no finally.
  const end = async () => {
    hold.end()
    return chunks.return()
  }
  return {
    next: () => chunks.next(),
    return: end,
    throw: async (error) => {
      hold.end()
      return chunks.throw(error)
    },
    [Symbol.asyncIterator]() {
      return this
    },
    [Symbol.asyncDispose]: async () => void (await end()),
  }
}

/** What lacks something was not damaged where others took this process for dead, and deleted it. */
async function* untilGone(
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
  isGone: () => Promise<boolean>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* chunks
  } catch (error) {
    throw hasCode(error, 'LK_STORAGE_CORRUPT') && (await isGone()) ? deletedMeanwhile(error) : error
  }
}

async function* readChunks(
  { core, range, cores, slices }: ExportParts,
  hold: ExportHold,
): AsyncGenerator<Uint8Array, void, undefined> {
  const ahead = new ReadAhead()
  try {
    hold.begin()
    const reads = sliceReads(core, range, cores, slices)
    let bytes = 0
    let more = true
    for (;;) {
      while (more && !ahead.isFull) {
        const { done, value } = await reads.next()
        if (done === true) more = false
        else ahead.push(value)
      }
      const next = ahead.shift()
      if (!next) break
      const slice = await next.catch((error: unknown) => {
        throw hasCode(error, 'LK_STORAGE_CORRUPT') ? damagedAfter(core, bytes, error) : error
      })
      hold.check()
      if (!slice) throw damaged(core, `after ${bytes} bytes a slice is missing`)
      bytes += slice.length
      ahead.pause()
      yield slice
      ahead.goOn()
      hold.check()
    }
    if (bytes !== range.to - range.from) throw damaged(core, `${bytes} bytes were found`)
  } finally {
    ahead.drop()
    hold.end()
  }
}

type ReadSlice = () => Promise<Uint8Array | undefined>

interface SliceAhead {
  readonly read: ReadSlice
  /** `undefined` where it is to be read when it is wanted. */
  slice: Promise<Uint8Array | undefined> | undefined
}

/** The slices that come next, some of them read already. */
class ReadAhead {
  readonly #next: SliceAhead[] = []
  /** Slices asked for so far, and at the last look. */
  #asked = 0
  #askedBefore = 0
  #isPaused = false
  #looks: NodeJS.Timeout | undefined

  /** The one that is wanted now is no part of what is read ahead. */
  get isFull(): boolean {
    if (this.#next.length === 0) return false
    return this.#next.length > readAhead || aheadOfAll >= maxAhead
  }

  push(read: ReadSlice): void {
    const slice = begin(read())
    this.#next.push({ read, slice })
    aheadOfAll++
  }

  shift(): Promise<Uint8Array | undefined> | undefined {
    const next = this.#next.shift()
    if (next === undefined) return undefined
    this.#asked++
    if (next.slice === undefined) return next.read()
    aheadOfAll--
    return next.slice
  }

  /** The reader has a slice, and may not come back soon. */
  pause(): void {
    this.#isPaused = true
    this.#looks ??= setInterval(() => {
      if (this.#isPaused && this.#asked === this.#askedBefore) this.drop()
      this.#askedBefore = this.#asked
    }, lookMs).unref()
  }

  goOn(): void {
    this.#isPaused = false
  }

  /** Lets go of what was read. */
  drop(): void {
    clearInterval(this.#looks)
    this.#looks = undefined
    for (const reading of this.#next) {
      if (reading.slice === undefined) continue
      reading.slice = undefined
      aheadOfAll--
    }
  }
}

/** What reads a core's slices in their order, a segment record at a time. */
async function* sliceReads(
  { generation, segments }: CoreRecord,
  { from, to }: ExportParts['range'],
  cores: Storage,
  slices: Storage,
): AsyncGenerator<ReadSlice> {
  if (segments === 0 || from === to) return
  /** Where the next segment begins. */
  let at = 0
  const places: SegmentPlaces = { cores, slices }
  const gte = segmentKey(generation, 0)
  const lt = segmentKey(generation, segments)
  for await (const page of cores.scan({ gte, lt })) {
    for (const { key, value } of page) {
      const segment = decodeRecord<SegmentRecord>(value)
      const placed = { generation, n: segmentAt(key), segment }
      const pieces = piecesOf(segment)
      for (let piece = 0; piece < pieces; piece++) {
        // All but the last are of one size.
        const begin = at + piece * sliceBytes
        const end = piece === pieces - 1 ? at + segment.bytes : begin + sliceBytes
        if (end <= from) continue
        if (begin >= to) return
        if (begin >= from && end <= to) yield () => readPiece(places, placed, piece)
        else {
          yield async () => {
            const whole = await readPiece(places, placed, piece)
            return whole?.subarray(Math.max(0, from - begin), to - begin)
          }
        }
      }
      at += segment.bytes
    }
  }
}

/** A read that is awaited later may fail before that; its error is not unhandled until then. */
function begin<T>(read: Promise<T>): Promise<T> {
  read.catch(() => undefined)
  return read
}

/** A partition knows no cores, and a key tells people nothing. */
function damagedAfter(core: CoreRecord, bytes: number, cause: LorekeepError): LorekeepError {
  return damaged(core, `after ${bytes} bytes a slice is damaged`, { ...cause.details }, cause)
}

function damaged(
  { user, id, bytes, segments }: CoreRecord,
  found: string,
  details = {},
  cause?: LorekeepError,
): LorekeepError {
  const detail = `core '${id}' of '${user}' has ${bytes} bytes in ${segments} segments; ${found}`
  return new LorekeepError('LK_STORAGE_CORRUPT', detail, {
    details: { ...details, user, id },
    ...(cause && { cause }),
  })
}
