import { createHash } from 'node:crypto'
import type { KnowledgeLimits } from './limits.js'
import { CoreReader } from '../codec/dialects/core-reader.js'
import { importDialects } from '../codec/dialects/names.js'
import {
  checkConditions,
  conditionRules,
  conditionsIn,
  timeAfter,
  type ChangeConditions,
} from '../conditions.js'
import { brief } from '../door/wording.js'
import { hasCode, LorekeepError } from '../errors.js'
import { refused } from '../presence.js'
import { decodeRecord, encodeRecord } from '../record.js'
import type { Operation, Precondition, Storage } from '../storage.js'
import { readSteps } from '../byte-source.js'
import { Turns } from '../turns.js'
import { Contents } from './contents.js'
import type { CoreTable } from './core-table.js'
import {
  contentKey,
  coreKey,
  createId,
  libraryKey,
  segmentKey,
  smallKey,
  type CoreRecord,
  type SegmentRecord,
} from './records.js'
import type { Libraries } from './library/libraries.js'
import { piecesOf, readPiece, type SmallBytes } from './segment-bytes.js'
import { Staging, type Staged } from './staging.js'
import type { CoreCounts, CoreRef, ImportOptions, ImportSummary } from './types.js'
import type { ByteSource } from '../byte-source.js'
import { checkOptions } from '../door/options.js'
import { aCount, aFlag, aFunction, aSignal, oneOf } from '../door/rules.js'
import { eitherOf } from '../in-flight.js'

/** The most bytes of a source that are taken in one step, before an abort is looked for. */
const stepBytes = 128 * 1024

/** Of a core without segments. */
export const emptyDigest = createHash('sha256').digest('hex')

/** What an import is going to write to, as it was when it began. */
interface Planned {
  /** Of the core, where there is none or it is replaced. */
  readonly created: string
  /** What the index has it under. */
  readonly generation: string
  readonly isIndexed: boolean
}
type How = Required<Pick<ImportOptions, 'mode' | 'copies'>> & {
  /** Who was asked for it. */
  readonly member: string | undefined
  /** The digest that the core has to have. */
  readonly expected: string | undefined
  readonly conditions: ChangeConditions | undefined
  readonly signal: AbortSignal
}

/** The core has not the digest any more that an import expected. Nothing was stored. */
export class CoreChanged extends Error {}

interface ImportParts {
  readonly table: CoreTable
  readonly libraries: Libraries
  readonly slices: Storage
  readonly limits: KnowledgeLimits
  readonly minLinked: number
  readonly now: () => number
  /** Aborts when the store gives up waiting. */
  readonly closing: AbortSignal
}

/** Brings streams into cores: all of a stream or nothing. */
export class CoreImporter {
  readonly #table: CoreTable
  readonly #libraries: Libraries
  readonly #slices: Storage
  readonly #limits: KnowledgeLimits
  readonly #minLinked: number
  readonly #now: () => number
  readonly #closing: AbortSignal
  readonly #contents: Contents

  constructor({ table, libraries, slices, limits, minLinked, now, closing }: ImportParts) {
    this.#table = table
    this.#libraries = libraries
    this.#slices = slices
    this.#limits = limits
    this.#minLinked = minLinked
    this.#now = now
    this.#closing = closing
    this.#contents = new Contents(table.cores)
  }

  /**
   * As `member` was asked for.
   * @throws CoreChanged where the core has another digest than `expected`
   */
  async import(
    name: CoreRef,
    source: ByteSource,
    options: ImportOptions,
    member: string | undefined,
    expected?: string,
  ): Promise<ImportSummary> {
    checkOptions('import()', options, importOptions)
    const { mode = 'append', copies = 1, index: isIndexed = false, dialect = 'any' } = options
    if (mode === 'replace' && copies > 1) {
      throw new TypeError("import(): copies are of an 'append'; what replaces a core is there once")
    }
    const conditions = conditionsIn(options as ChangeConditions)
    const signal = eitherOf(this.#closing, options.signal)
    const how = { mode, copies, member, expected, conditions, signal }
    // Nobody wants to send two gigabytes to be told of it then.
    if (conditions !== undefined) checkCore(conditions, name, await this.#read(name, member))
    await this.#libraries.room(name.user, signal)
    const created = createId(this.#now())
    const generation = (isIndexed && (await this.#appendedTo(name, how))) || created
    const staging = new Staging({
      table: this.#table,
      slices: this.#slices,
      minLinked: this.#minLinked,
      member,
      now: this.#now,
      source: isIndexed ? { generation, core: name.id } : undefined,
      signal,
    })
    const { id, writer } = staging
    let tried: string | undefined
    const reader: CoreReader = new CoreReader({
      sink: writer,
      target: name,
      limits: this.#limits,
      dialect,
    })
    const counts = (): CoreCounts => ({
      bytes: writer.bytes,
      messages: reader.messages,
      triples: reader.triples,
      entities: reader.entities,
      vectors: reader.vectors,
    })
    let summary: Omit<ImportSummary, 'duplicate' | 'version'> | undefined
    const turns = new Turns(signal)
    try {
      for await (const step of readSteps(source, stepBytes, [options.signal, this.#closing])) {
        if (reader.offset + step.length > this.#limits.maxCoreBytes) this.#failCoreSize()
        for (const _ of reader.push(step)) {
          // What is converted may have become longer.
          if (writer.bytes > this.#limits.maxCoreBytes) this.#failCoreSize()
          if (turns.isLong) await turns.pass()
          if (!writer.hasFull) continue
          await staging.writeFull()
          options.onProgress?.(counts())
        }
        // Not before: whoever brings a chunk may take it back meanwhile, and would not be told.
        await turns.pass()
      }
      reader.finish()
      const digest = staging.digest()
      const { dialect, skipped } = reader
      const stored = { ...counts(), digest }
      summary = { ...stored, dialect, skipped }
      // Known before the first slice of a small stream is written: a retry of it writes nothing.
      const held = await this.#holding(name, how, digest)
      if (held !== undefined) {
        await staging.discard()
        return { ...summary, version: held.digest, duplicate: true }
      }
      const staged = await staging.finish()
      options.onProgress?.(counts())
      const createdAt = new Date(this.#now()).toISOString()
      const segment = segmentOf(
        id,
        staged.small ? 0 : writer.blocks,
        staged.small,
        stored,
        createdAt,
      )
      const planned = { created, generation, isIndexed }
      const { version, duplicate } = await this.#commit(
        name,
        how,
        segment,
        staged,
        planned,
        staging,
        (version) => (tried = version),
      )
      if (duplicate) await staging.discard()
      return { ...summary, version, duplicate }
    } catch (error) {
      const discarded = await staging.discard()
      if (discarded || !summary) {
        if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
        throw this.#table.isShared ? refused(error) : lost(name, error)
      }
      // The storage failed after it had carried out the commit.
      return { ...summary, version: tried ?? summary.digest, duplicate: false }
    } finally {
      await staging.end()
    }
  }

  /** Makes a segment, written or small, part of the core, in one step. True where its content was there already. */
  async #commit(
    name: CoreRef,
    how: How,
    segment: SegmentRecord,
    { small, parts }: Staged,
    { created, generation: planned, isIndexed }: Planned,
    staging: Staging,
    onTry: (version: string) => void,
  ): Promise<Pick<ImportSummary, 'version' | 'duplicate'>> {
    const { member } = how
    for (;;) {
      const { core, stored } = (await this.#libraries.toBeChanged(name, member)) ?? {}
      const digest = core?.digest ?? emptyDigest
      checkCore(how.conditions, name, core)
      if (how.expected !== undefined && how.expected !== digest) throw new CoreChanged()
      const change = core && (await this.#changeOf(core, how, segment.digest))
      if (change === 'none') return { version: digest, duplicate: true }
      const replaced = change === 'replace' ? core : undefined
      const createdAt = timeAfter(core?.updatedAt, segment.createdAt)
      const base = change === 'append' ? core! : emptyCore(name, created, { createdAt })
      const next = segment.bytes > 0 ? extend(base, segment, createdAt) : base
      onTry(next.digest)
      const key = coreKey(name)
      const operations: Operation[] = [{ type: 'put', key, value: encodeRecord(next) }]
      const require: Precondition[] = [
        stored ? { type: 'equals', key, value: stored } : { type: 'absent', key },
      ]
      const unstage = (id: string) => {
        const { operation, precondition } = staging.unstage(id)
        operations.push(operation)
        require.push(precondition)
      }
      if (segment.bytes > 0) {
        const { generation } = next
        const content = contentKey(generation, segment.digest)
        const at = segmentKey(generation, base.segments)
        // Of the time that the core has: its record is made of these where it is damaged.
        const dated = createdAt === segment.createdAt ? segment : { ...segment, createdAt }
        operations.push({ type: 'put', key: at, value: encodeRecord(dated) })
        staging.tried.segment = at
        operations.push({ type: 'put', key: content, value: new Uint8Array(0) })
        if (small === undefined) unstage(segment.id)
        else {
          const lies = smallKey(generation, base.segments)
          operations.push({ type: 'put', key: lies, value: small.stored })
        }
      }
      // Somebody else may have been faster, and made another generation of the core.
      const isIndexedNow = parts.length > 0 && next.generation === planned
      if (isIndexedNow) unstage(staging.indexId)
      staging.tried.parts = isIndexedNow ? libraryKey(name.user) : undefined
      const waiting =
        segment.bytes === 0 || isIndexedNow
          ? undefined
          : {
              user: name.user,
              generation: next.generation,
              segment: base.segments,
              core: name.id,
              bytes: segment.bytes,
              isSoon: isIndexed || small !== undefined,
              content: small?.content,
            }
      if (replaced) operations.push(this.#table.markGarbage(replaced.generation))
      const whole = {
        name,
        operations,
        require,
        member,
        waiting,
        parts: isIndexedNow ? parts : [],
        retired: replaced?.generation,
      }
      if (!(await this.#libraries.commit(whole))) continue
      if (replaced) this.#table.collector.retire(replaced.generation)
      if (!isIndexedNow) await staging.discardParts()
      return { version: next.digest, duplicate: false }
    }
  }

  /**
   * The generation that an import goes to where one is there: an index names it. Where the commit
   * finds another one, because somebody was faster, the index is given up.
   */
  async #appendedTo(name: CoreRef, { mode, member }: How): Promise<string | undefined> {
    return mode === 'append' ? (await this.#read(name, member))?.generation : undefined
  }

  async #read(name: CoreRef, member: string | undefined): Promise<CoreRecord | undefined> {
    return (await this.#libraries.toBeChanged(name, member))?.core
  }

  /** The core, where an import of this content would change nothing in it. */
  async #holding(name: CoreRef, how: How, digest: string): Promise<CoreRecord | undefined> {
    const core = await this.#read(name, how.member)
    checkCore(how.conditions, name, core)
    if (core === undefined || (await this.#changeOf(core, how, digest)) !== 'none') return undefined
    return core
  }

  /**
   * What an import of this content has to do. Content that is there and damaged is no reason to do
   * nothing: whoever imports it again wants it back.
   */
  async #changeOf(
    core: CoreRecord,
    { mode, copies, signal }: How,
    digest: string,
  ): Promise<'none' | 'append' | 'replace'> {
    if (mode === 'replace') {
      const isSame = core.segments <= 1 && core.digest === digest
      return isSame && (await this.#isWhole(core, digest, signal)) ? 'none' : 'replace'
    }
    if (digest === emptyDigest) return 'none'
    const content = await this.#table.cores.get(contentKey(core.generation, digest))
    if (content === undefined) return 'append'
    if (copies > 1 && (await this.#contents.copies(core, digest)) < copies) return 'append'
    if (await this.#isWhole(core, digest, signal)) return 'none'
    if (core.segments === 1) return 'replace'
    const now = await this.#table.read(core)
    // Somebody has replaced it meanwhile, and what was read is gone. The commit looks again.
    if (now?.generation !== core.generation) return 'append'
    const { user, id } = core
    const detail = `core '${id}' of '${user}' holds this content in one of its segments, where it is damaged: delete the core, and import all of it`
    throw new LorekeepError('LK_STORAGE_CORRUPT', detail, { details: { user, id } })
  }

  /** Reads the segment that has this content. */
  async #isWhole(core: CoreRecord, digest: string, signal: AbortSignal): Promise<boolean> {
    if (digest === emptyDigest) return true
    const { generation } = core
    const { cores } = this.#table
    try {
      const n = await this.#contents.segment(core, digest)
      if (n === undefined) return false
      const record = await cores.get(segmentKey(generation, n))
      if (record === undefined) return false
      const segment = decodeRecord<SegmentRecord>(record)
      // Where contents lie may have been read long ago.
      if (segment.digest !== digest) return false
      const placed = { generation, n, segment }
      let bytes = 0
      for (let piece = 0; piece < piecesOf(segment); piece++) {
        signal.throwIfAborted()
        bytes += (await readPiece({ cores, slices: this.#slices }, placed, piece))?.length ?? 0
      }
      return bytes === segment.bytes
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
    }
    return false
  }

  #failCoreSize(): never {
    const most = this.#limits.maxCoreBytes
    throw new LorekeepError(
      'LK_CORE_TOO_LARGE',
      `at most ${most} bytes (maxCoreBytes) are accepted`,
      {
        details: { maxCoreBytes: most },
      },
    )
  }
}

/** @throws LorekeepError `LK_PRECONDITION` */
export function checkCore(
  conditions: ChangeConditions | undefined,
  { id }: CoreRef,
  core: CoreRecord | undefined,
): void {
  if (conditions === undefined) return
  const now = core && { version: core.digest, updatedAt: core.updatedAt }
  checkConditions(conditions, now, `the core ${brief(id)}`)
}

/** A conflict that is not about the core: what was staged is gone, and nothing was written. */
function lost({ id }: CoreRef, cause: LorekeepError): LorekeepError {
  const detail = `the import into '${id}' was taken for dead and swept by whoever opened the store meanwhile; nothing of it is stored: import it again`
  return new LorekeepError('LK_STORAGE_CONFLICT', detail, { cause, details: cause.details })
}

// All three name each member: to spread one object or two into another takes 8 to 17 us, and a small import some 200.

function segmentOf(
  id: string,
  slices: number,
  small: SmallBytes | undefined,
  counts: CoreCounts & { readonly digest: string },
  createdAt: string,
): SegmentRecord {
  return {
    id,
    slices,
    inline: small?.inline,
    bytes: counts.bytes,
    messages: counts.messages,
    triples: counts.triples,
    entities: counts.entities,
    vectors: counts.vectors,
    digest: counts.digest,
    createdAt,
  }
}

export function emptyCore(
  { user, id }: CoreRef,
  generation: string,
  { createdAt }: Pick<SegmentRecord, 'createdAt'>,
): CoreRecord {
  return {
    user,
    id,
    generation,
    segments: 0,
    bytes: 0,
    messages: 0,
    triples: 0,
    entities: 0,
    vectors: 0,
    digest: emptyDigest,
    createdAt,
    updatedAt: createdAt,
  }
}

/** A core with one more segment. */
export function extend(
  core: CoreRecord,
  segment: SegmentRecord,
  updatedAt = segment.createdAt,
): CoreRecord {
  return {
    user: core.user,
    id: core.id,
    generation: core.generation,
    segments: core.segments + 1,
    bytes: core.bytes + segment.bytes,
    messages: core.messages + segment.messages,
    triples: core.triples + segment.triples,
    entities: core.entities + segment.entities,
    vectors: core.vectors + segment.vectors,
    digest: core.segments === 0 ? segment.digest : chain(core.digest, segment.digest),
    createdAt: core.createdAt,
    updatedAt,
  }
}

/** A core's digest from that of its segments until now and of the one that is added. */
export function chain(core: string, segment: string): string {
  return createHash('sha256')
    .update(Buffer.from(core + segment, 'hex'))
    .digest('hex')
}

export const importOptions = {
  mode: oneOf('append', 'replace'),
  copies: aCount(1),
  index: aFlag,
  dialect: oneOf(...importDialects),
  signal: aSignal,
  onProgress: aFunction,
  ...conditionRules,
}
