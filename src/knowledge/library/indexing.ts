// The work on a library: parts are made of segments, several parts become one, and what nobody says any
// more is forgotten. Each ends with one write, or leaves nothing.

import { hasCode } from '../../errors.js'
import { choose, generationsIn } from '../../graph/index/chosen.js'
import { IndexBuilder, linkParts } from '../../graph/index/index-builder.js'
import type { PartRecord } from '../../graph/index/layout.js'
import { mergeParts, type MergeInput } from '../../graph/index/merging.js'
import type { Part } from '../../graph/index/part.js'
import type { IndexOptions } from '../../graph/types.js'
import type { Storage } from '../../storage.js'
import { Trace } from '../../tracing.js'
import type { CoreTable } from '../core-table.js'
import { createId, garbageKey, libraryKey, partName } from '../records.js'
import { nameOfWaiting, type Library, type Waiting } from './library.js'
import { SegmentsAhead, type ReadSegment } from './read-waiting.js'
import { rowsOf, type Candidate } from './policy.js'

const making = new Trace('index.make')
const merging = new Trace('index.merge')

/** What all work on libraries needs. */
export interface IndexingTools {
  readonly table: CoreTable
  readonly slices: Storage
  readonly read: ReadSegment
  /** So many vectors of one length get an approximate index. */
  readonly minLinked: number
  readonly now: () => number
}

export interface AskedOptions extends IndexOptions {
  /**
   * Who was asked for it. It is left out where nobody was, as with questions, which change nothing that is said: then
   * each write is begun by who this process is then.
   */
  readonly member?: string | undefined
}

export interface IndexingOptions extends AskedOptions {
  /** Makes approximate indexes, too, which takes many times as long as the parts. */
  readonly isThorough: boolean
  /** Is told of a segment that cannot be read. */
  readonly onDamage?: ((waiting: Waiting) => void) | undefined
  /** Of what was made, what is merged before it is a part of the library. By default nothing is. */
  readonly join?: ((made: readonly PartRecord[]) => Promise<readonly Joined[]>) | undefined
}

/** Of one kind: what was made of segments, and parts of the library with which it becomes one. */
export interface Joined {
  readonly made: readonly PartRecord[]
  readonly parts: readonly Part[]
}

/** Makes parts of segments. Those that do not wait any more are passed over. */
export function indexSegments(
  library: Library,
  segments: readonly Waiting[],
  tools: IndexingTools,
  options: IndexingOptions,
): Promise<void> {
  const work = () => makeParts(library, segments, tools, options)
  if (!making.isHeard) return work()
  const bytes = segments.reduce((sum, waiting) => sum + waiting.bytes, 0)
  return making.run(making.operation({ segments: segments.length, bytes }), work)
}

async function makeParts(
  library: Library,
  segments: readonly Waiting[],
  tools: IndexingTools,
  { member, signal, onProgress, isThorough, onDamage, join }: IndexingOptions,
): Promise<void> {
  const { table, slices, read, minLinked } = tools
  const readOrTell = async function* (waiting: Waiting, ahead: SegmentsAhead) {
    try {
      yield* ahead.read(waiting)
    } catch (error) {
      if (hasCode(error, 'LK_STORAGE_CORRUPT')) onDamage?.(waiting)
      throw error
    }
  }
  // What is replaced from here on stays to be read.
  const release = table.collector.pin(...new Set(segments.map(({ generation }) => generation)))
  try {
    await library.refresh()
    const indexed = segments.filter((waiting) => library.waiting.has(nameOfWaiting(waiting)))
    indexed.sort(byPlace)
    const [first] = indexed
    if (first === undefined) return
    const { reading } = library
    await commit(library, tools, member, async (stage) => {
      const builder = new IndexBuilder(slices, await stage(), first, signal)
      const ahead = new SegmentsAhead(indexed, read)
      try {
        const total = indexed.reduce((sum, { bytes }) => sum + bytes, 0)
        let done = 0
        for (const waiting of indexed) {
          builder.source(waiting)
          for await (const slice of readOrTell(waiting, ahead)) {
            signal?.throwIfAborted()
            builder.push(slice)
            await builder.ready()
            done += slice.length
            onProgress?.({ stage: 'triples', done, total })
          }
        }
        const made = await builder.finish()
        await builder.end()
        if (join !== undefined) {
          const joined = await joinAll(library, made, await join(made), tools, stage, signal)
          return { reading, ...joined, indexed, forgotten: [] }
        }
        const linking = {
          minLinked,
          signal,
          onProgress: (linked: number, vectors: number) =>
            onProgress?.({ stage: 'vectors', done: linked, total: vectors }),
        }
        const added = isThorough ? await linkParts(slices, made, linking) : made
        return { reading, added, removed: [], indexed, forgotten: [] }
      } finally {
        await builder.end()
        await ahead.end()
      }
    })
  } finally {
    release()
  }
}

/** Merges what was made with what it becomes one with. */
async function joinAll(
  library: Library,
  made: readonly PartRecord[],
  groups: readonly Joined[],
  tools: IndexingTools,
  stage: () => Promise<string>,
  signal: AbortSignal | undefined,
): Promise<Required<Pick<Made, 'added' | 'removed' | 'passing'>>> {
  const { slices, table, minLinked } = tools
  const added = new Set(made)
  const removed: Part[] = []
  const passing: PartRecord[] = []
  for (const group of groups) {
    const release = table.collector.pin(...group.parts.map(({ record }) => partName(record)))
    try {
      // A merge that somebody asked for may have taken them meanwhile.
      if (!group.parts.every((part) => library.parts.includes(part))) continue
      const inputs = await inputsOf(library, group.parts)
      for (const part of group.made) inputs.push({ part, dead: [] })
      const options = { minLinked, signal, onProgress: undefined }
      const one = await mergeParts(slices, await stage(), inputs, options)
      for (const part of group.made) added.delete(part)
      if (one !== undefined) added.add(one)
      passing.push(...group.made)
      removed.push(...group.parts)
    } finally {
      release()
    }
  }
  return { added: [...added], removed, passing }
}

/** Parts, without what was given up. */
async function inputsOf(library: Library, parts: readonly Part[]): Promise<MergeInput[]> {
  const inputs: MergeInput[] = []
  for (const part of parts) {
    inputs.push({ part: part.record, dead: await generationsIn(part, [...library.retired]) })
  }
  return inputs
}

/** Makes one part of several of one kind, without what nobody says any more. */
export function mergeInto(
  library: Library,
  parts: readonly Part[],
  tools: IndexingTools,
  options: AskedOptions,
): Promise<void> {
  const work = () => makeOnePart(library, parts, tools, options)
  if (!merging.isHeard) return work()
  return merging.run(merging.operation({ parts: parts.length }), work)
}

async function makeOnePart(
  library: Library,
  parts: readonly Part[],
  tools: IndexingTools,
  { member, signal, onProgress }: AskedOptions,
): Promise<void> {
  const { table, slices, minLinked } = tools
  const release = table.collector.pin(...parts.map(({ record }) => partName(record)))
  try {
    await library.refresh()
    if (!parts.every((part) => library.parts.includes(part))) return
    const { reading } = library
    const inputs = await inputsOf(library, parts)
    const whole = async (stage: () => Promise<string>) => {
      const made = await mergeParts(slices, await stage(), inputs, {
        minLinked,
        signal,
        onProgress: (done, total) => onProgress?.({ stage: 'vectors', done, total }),
      })
      const added = made === undefined ? [] : [made]
      return { reading, added, removed: parts, indexed: [], forgotten: [] }
    }
    await commit(library, tools, member, whole).catch(async (error: unknown) => {
      // Others may have merged and deleted them, if they took this process for dead.
      if (!library.isShared || !hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
      await library.refresh()
      if (parts.every((part) => library.parts.includes(part))) throw error
    })
  } finally {
    release()
  }
}

/** Forgets the generations that were given up and of which no part has anything any more. */
export async function forget(
  library: Library,
  table: CoreTable,
  member: string | undefined = table.member,
): Promise<void> {
  await library.refresh()
  // Parts that come later have nothing of those that are gone by now.
  const retired = new Set(library.retired)
  const { reading } = library
  // Somebody may be making a part of what is not deleted yet, which he holds.
  if (library.isShared) for (const held of await heldOf(retired, table)) retired.delete(held)
  if (retired.size === 0) return
  for (const part of library.parts) {
    for (const generation of await generationsIn(part, [...retired])) retired.delete(generation)
  }
  if (retired.size === 0) return
  await library.change({
    ids: [],
    member,
    reading,
    added: [],
    removed: [],
    indexed: [],
    forgotten: [...retired],
  })
}

/** Those that are to be deleted, and were not yet. */
async function heldOf(retired: ReadonlySet<string>, { cores }: CoreTable): Promise<string[]> {
  const generations = [...retired]
  const found = await cores.getMany(generations.map((generation) => garbageKey(generation)))
  return generations.filter((_, n) => found[n] !== undefined)
}

/** A part as the policy sees it. */
export async function candidateOf(
  part: Part,
  retired: ReadonlySet<string>,
  minLinked: number,
): Promise<Candidate & { readonly part: Part }> {
  const { vectors } = part.record
  const rows = rowsOf(part.record)
  const isUnlinked = vectors !== undefined && vectors.links === 0 && vectors.count >= minLinked
  const dead = retired.size === 0 ? 0 : await deadShare(part, retired)
  return { part, rows, dead, isUnlinked }
}

/** Of a part without triples it is the share of places: most have as much as others. */
async function deadShare(part: Part, retired: ReadonlySet<string>): Promise<number> {
  const { triples, places, placeRows } = part.record
  const chosen = await choose(part, { not: [...retired] })
  if (chosen === undefined) return 1
  const { accepts, rows } = chosen
  if (accepts === undefined) return 0
  // What several say counts for each of them, or it would hide what nobody says.
  if (triples > 0) return 1 - rows / placeRows
  return accepts.reduce((dead, accepted) => dead - accepted, places) / places
}

type Made = Omit<Parameters<Library['change']>[0], 'ids' | 'staged' | 'member'>

/** Does work under names that it stages and writes what it comes to; or takes all of it back. */
async function commit(
  library: Library,
  { table, now }: IndexingTools,
  member: string | undefined = table.member,
  work: (stage: () => Promise<string>) => Promise<Made>,
): Promise<void> {
  const ids: string[] = []
  let staged: Uint8Array | undefined
  const stage = async () => {
    const id = createId(now())
    ids.push(id)
    staged = await table.stage(member, id)
    return id
  }
  try {
    const made = await work(stage)
    await library.change({ ids, staged, member, ...made })
  } catch (error) {
    // Unless the storage failed after it had carried out the write.
    let isDiscarded = true
    for (const id of ids) {
      if (!(await table.discard(id, libraryKey(library.user)))) isDiscarded = false
    }
    // Somebody took this process for dead, and swept what it staged: whoever wants it begins anew.
    if (isDiscarded && !hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
  }
}

/** In the order in which they were imported, those of one core together. */
function byPlace(a: Waiting, b: Waiting): number {
  if (a.generation !== b.generation) return a.generation < b.generation ? -1 : 1
  return a.segment - b.segment
}
