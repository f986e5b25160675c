// What is whole of damaged cores, written anew. A segment is kept or dropped as a whole; indexes are
// derived, and made again by whoever asks.

import { createHash } from 'node:crypto'
import { MessageDecoder } from '../codec/decoder.js'
import { CoreScanner } from '../codec/scanner.js'
import { keyPrefix } from '../keys.js'
import { encodeRecord } from '../record.js'
import type { Entry, Operation, Storage } from '../storage.js'
import type { Source } from '../verify/finding.js'
import { Reading, tupleOf } from '../verify/reading.js'
import { keyText, tupleText, type Report } from '../verify/report.js'
import { emptyCore, extend } from './core-import.js'
import {
  allGarbage,
  contentKey,
  coreKey,
  formatKey,
  segmentKey,
  segmentsOf,
  sliceKey,
  type CoreRecord,
  type SegmentRecord,
} from './records.js'
import type { CoreRef } from './types.js'
import { isCoreRecord, isSegmentRecord } from './record-shapes.js'
import { noLimits } from './segment-content.js'

export interface SalvagedCores {
  cores: number
  segments: number
  bytes: number
}

interface Places<S> {
  readonly cores: S
  readonly slices: S
}

export async function salvageKnowledge(
  from: Places<Source>,
  to: Places<Storage>,
  report: Report,
): Promise<SalvagedCores> {
  const salvage = new CoreSalvage(from, to, report)
  await salvage.run()
  return salvage.kept
}

class CoreSalvage {
  readonly kept: SalvagedCores = { cores: 0, segments: 0, bytes: 0 }
  readonly #cores: Reading
  readonly #slices: Reading
  readonly #to: Places<Storage>
  readonly #report: Report

  constructor(from: Places<Source>, to: Places<Storage>, report: Report) {
    this.#cores = new Reading('cores', from.cores, report)
    this.#slices = new Reading('slices', from.slices, report)
    this.#to = to
    this.#report = report
  }

  async run(): Promise<void> {
    const key = formatKey()
    await this.#to.cores.write([{ type: 'put', key, value: encodeRecord({ version: 1 }) }], {
      durable: true,
    })
    const generations = new Set<string>()
    for await (const entry of this.#cores.entries(keyPrefix('core'))) {
      const [user, id] = tupleOf<[string, string]>(entry.key, 'ss') ?? []
      const core = this.#cores.record<CoreRecord>(entry)
      if (user === undefined || id === undefined || core === undefined) continue
      if (!isCoreRecord(core, user, id)) {
        this.#cores.damaged(entry.key, 'it is not the record of this core')
        continue
      }
      generations.add(core.generation)
      await this.#copyCore({ user, id }, core.generation, core)
    }
    for await (const { key } of this.#cores.entries({ ...allGarbage(), keysOnly: true })) {
      const [generation] = tupleOf<[string]>(key, 's') ?? []
      if (generation !== undefined) generations.add(generation)
    }
    await this.#copyNameless(generations)
  }

  /** Segments of a core whose own record is lost: each of their messages names it. */
  async #copyNameless(known: Set<string>): Promise<void> {
    for await (const entry of this.#cores.entries(keyPrefix('segment'))) {
      const [generation] = tupleOf<[string, number]>(entry.key, 'sn') ?? []
      if (generation === undefined || known.has(generation)) continue
      known.add(generation)
      const segment = this.#segmentOf(entry)
      const name = segment && (await this.#nameIn(segment))
      const isTaken = name && (await this.#to.cores.get(coreKey(name))) !== undefined
      if (name !== undefined && isTaken === false) await this.#copyCore(name, generation, undefined)
      else this.#lost(tupleText('segment', generation), 'segments of a core whose name is lost')
    }
  }

  async #copyCore(name: CoreRef, generation: string, core: CoreRecord | undefined): Promise<void> {
    const whose = `core '${name.id}' of '${name.user}'`
    let copy: CoreRecord | undefined
    let found = 0
    let bytes = 0
    for await (const entry of this.#cores.entries(segmentsOf(generation))) {
      const segment = this.#segmentOf(entry)
      if (segment === undefined) continue
      found++
      if (!(await this.#isWhole(segment))) {
        this.#lost(keyText(entry.key), `${whose}: a segment of ${segment.bytes} bytes, not whole`)
        continue
      }
      await this.#copySlices(segment)
      copy ??= emptyCore(name, generation, segment)
      const place = copy.segments
      copy = extend(copy, segment)
      bytes += segment.bytes
      this.kept.segments++
      await this.#put([
        { type: 'put', key: segmentKey(generation, place), value: encodeRecord(segment) },
        { type: 'put', key: contentKey(generation, segment.digest), value: new Uint8Array(0) },
      ])
    }
    if (core !== undefined && found < core.segments) {
      const message = `${whose}: ${core.segments - found} of its ${core.segments} segments are gone`
      this.#lost(tupleText('segment', generation), message)
    }
    if (core?.segments === 0) copy ??= core
    if (copy === undefined) {
      this.#lost(tupleText('core', name.user, name.id), `${whose}: none of its segments is whole`)
      return
    }
    const times = core === undefined ? {} : { createdAt: core.createdAt, updatedAt: core.updatedAt }
    const value = encodeRecord({ ...copy, ...times })
    await this.#put([{ type: 'put', key: coreKey(name), value }])
    this.kept.cores++
    this.kept.bytes += bytes
  }

  #segmentOf(entry: Entry): SegmentRecord | undefined {
    const segment = this.#cores.record<SegmentRecord>(entry)
    if (segment === undefined || isSegmentRecord(segment)) return segment
    this.#cores.damaged(entry.key, 'it is not the record of a segment')
    return undefined
  }

  async #isWhole({ id, slices, digest }: SegmentRecord): Promise<boolean> {
    const hash = createHash('sha256')
    const scanner = new CoreScanner({ copy: () => undefined }, undefined, noLimits)
    for (let n = 0; n < slices; n++) {
      const slice = await this.#slices.get(sliceKey(id, n))
      if (slice === undefined) return false
      hash.update(slice)
      try {
        scanner.push(slice)
        if (n === slices - 1) scanner.finish()
      } catch {
        return false
      }
    }
    return hash.digest('hex') === digest
  }

  async #copySlices({ id, slices }: SegmentRecord): Promise<void> {
    for (let n = 0; n < slices; n++) {
      const key = sliceKey(id, n)
      const value = await this.#slices.get(key)
      if (value === undefined) throw new Error(`${keyText(key)} was there a moment ago`)
      await this.#to.slices.write([{ type: 'put', key, value }], { durable: true })
    }
  }

  async #nameIn({ id, slices }: SegmentRecord): Promise<CoreRef | undefined> {
    const decoder = new MessageDecoder()
    try {
      for (let n = 0; n < slices; n++) {
        const slice = await this.#slices.get(sliceKey(id, n))
        if (slice === undefined) return undefined
        for (const [, { m }] of decoder.push(slice)) return { user: m.u, id: m.i }
      }
    } catch {
      // It is told with its segment.
    }
    return undefined
  }

  async #put(operations: readonly Operation[]): Promise<void> {
    await this.#to.cores.write(operations, { durable: true })
  }

  #lost(what: string, message: string): void {
    this.#report.error('cores', 'lost', what, message)
  }
}
