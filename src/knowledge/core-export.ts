import { LorekeepError } from '../errors.js'
import type { InFlight } from '../in-flight.js'
import type { Storage } from '../storage.js'
import {
  decodeRecord,
  segmentKey,
  sliceKey,
  type CoreRecord,
  type SegmentRecord,
} from './records.js'
import type { CoreExport } from './types.js'

/** Slices that are read ahead of the one being handed out. */
const readAhead = 3

export interface ExportParts {
  readonly core: CoreRecord
  readonly cores: Storage
  readonly slices: Storage
  readonly inFlight: InFlight
  readonly signal: AbortSignal | undefined
  /** Lets go of the core's generation. */
  readonly release: () => void
}

/** An export that was dropped without being read still has to let go of its generation. */
const dropped = new FinalizationRegistry<() => void>((release) => release())

/** Holds the pin of one generation until it is read, closed or dropped, and reads a few slices ahead. */
export function createCoreExport(parts: ExportParts): CoreExport {
  const { core, release } = parts
  let used = false
  const { generation: _, ...stat } = core
  const coreExport: CoreExport = {
    ...stat,
    [Symbol.asyncIterator]: () => {
      if (used) throw new TypeError('an export can be read once; ask for another one')
      used = true
      dropped.unregister(coreExport)
      return readChunks(parts)
    },
    close: () => {
      used = true
      dropped.unregister(coreExport)
      release()
    },
    [Symbol.dispose]: () => coreExport.close(),
  }
  dropped.register(coreExport, release, coreExport)
  return coreExport
}

async function* readChunks(parts: ExportParts): AsyncGenerator<Uint8Array, void, undefined> {
  const { core, slices, inFlight, signal, release } = parts
  let end: (() => void) | undefined
  try {
    end = inFlight.begin()
    const ahead: Promise<Uint8Array | undefined>[] = []
    const keys = sliceKeys(parts)
    let bytes = 0
    let more = true
    for (;;) {
      while (more && ahead.length <= readAhead) {
        const { done, value } = await keys.next()
        if (done === true) more = false
        else ahead.push(begin(slices.get(value)))
      }
      const next = ahead.shift()
      if (!next) break
      const slice = await next
      signal?.throwIfAborted()
      inFlight.signal.throwIfAborted()
      if (!slice) throw damaged(core, 'a slice is missing')
      bytes += slice.length
      yield slice
    }
    if (bytes !== core.bytes) throw damaged(core, `${bytes} bytes were found`)
  } finally {
    release()
    end?.()
  }
}

/** The keys of a core's slices in their order, a segment record at a time. */
async function* sliceKeys({ core, cores }: ExportParts): AsyncGenerator<Uint8Array> {
  if (core.segments === 0) return
  const gte = segmentKey(core.generation, 0)
  const lt = segmentKey(core.generation, core.segments)
  for await (const page of cores.scan({ gte, lt })) {
    for (const { value } of page) {
      const segment = decodeRecord<SegmentRecord>(value)
      for (let n = 0; n < segment.slices; n++) yield sliceKey(segment.id, n)
    }
  }
}

/** A read that is awaited later may fail before that; its error is not unhandled until then. */
function begin<T>(read: Promise<T>): Promise<T> {
  read.catch(() => undefined)
  return read
}

function damaged(core: CoreRecord, found: string): LorekeepError {
  const detail = `core '${core.id}' has ${core.bytes} bytes in ${core.segments} segments; ${found}`
  return new LorekeepError('LK_STORAGE_CORRUPT', detail)
}
