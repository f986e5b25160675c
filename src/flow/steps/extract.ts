// The step `extract`: what each chunk speaks of and says.

import { setImmediate } from 'node:timers/promises'
import { keyOfTriple } from '../../terms.js'
import { Turns } from '../../turns.js'
import type { Term, Triple } from '../../types.js'
import type { Step, StepContext } from '../types.js'
import { embedVectors } from './embed.js'
import { isHashing } from './hashing-embedder.js'
import { checkExtraction } from './extraction.js'
import { entityTerm } from './graph.js'
import { findHeadings } from './headings.js'
import { checkKnowledge } from './knowledge-input.js'
import { collapseSpace, entityUri, relationUri } from './names.js'
import { offlineExtractor } from './offline-extractor.js'
import { asOne } from './one-thing.js'
import type {
  ChunkOutput,
  ChunkText,
  EmbedOutput,
  Embedder,
  Entity,
  Extraction,
  Extractor,
  ExtractOutput,
} from './types.js'
import { checkOptions } from '../../door/options.js'
import { aCount, aFunction } from '../../door/rules.js'
import { aBase, documentUri } from './vocabulary.js'

export interface ExtractOptions {
  /** offlineExtractor() by default. */
  readonly extractor?: Extractor
  /** Gives each entity a vector of its name and definition; without it they have none. */
  readonly embedder?: Embedder
  /** URIs of entities and relations begin with it and `e/`. That of the store by default. */
  readonly base?: string
  /** Chunks under way at once: 1 by default for the offline extractor, 4 for any other. */
  readonly concurrency?: number
}

const extractOptions = {
  extractor: aFunction,
  embedder: aFunction,
  base: aBase,
  concurrency: aCount(1),
}

export function extract(
  options: ExtractOptions = {},
): Step<ChunkOutput | EmbedOutput, ExtractOutput> {
  checkOptions('extract()', options, extractOptions)
  const { extractor = offlineExtractor(), embedder } = options
  const { concurrency = options.extractor === undefined ? 1 : 4 } = options
  return {
    name: 'extract',
    record: options.extractor !== undefined || (embedder !== undefined && !isHashing(embedder)),
    run: async (input, context): Promise<ExtractOutput> => {
      const { chunks, vectors } = await checkKnowledge(input, 'extract', context)
      const base = `${options.base ?? context.base}e/`
      const source = entityTerm(documentUri(context.document.id, options.base ?? context.base))
      const texts = chunks.map(({ index, start, end }): ChunkText => {
        return { index, start, end, text: context.document.text.slice(start, end) }
      })
      await findHeadings(context.document, context.signal)
      const found = await extractAll(texts, context, { extractor, base, source, concurrency })
      const turns = new Turns(context.signal)
      const said = {
        entities: await mergeEntities(texts, found, base, turns),
        triples: await mergeTriples(found, turns),
      }
      const uriOf = (name: string) => entityUri(name, base)
      const { entities, triples } = await asOne(said, uriOf, context, turns)
      const described = embedder ? await withVectors(entities, embedder, context) : entities
      return { chunks, ...(vectors.length > 0 && { vectors }), entities: described, triples }
    },
  }
}

interface ExtractAllOptions {
  readonly extractor: Extractor
  readonly base: string
  readonly source: Term
  readonly concurrency: number
}

/** In the order of the chunks. The first failure aborts what else is under way. */
async function extractAll(
  chunks: readonly ChunkText[],
  { document, signal: stepSignal, progress }: StepContext,
  { extractor, base, source, concurrency }: ExtractAllOptions,
): Promise<Extraction[]> {
  const failure = new AbortController()
  const workers = Math.min(concurrency, chunks.length)
  // One that fails alone has nobody to tell; to join signals costs 50 us.
  const signal = workers > 1 ? AbortSignal.any([stepSignal, failure.signal]) : stepSignal
  const entity = (name: string): Term => ({ v: entityUri(name, base), e: true })
  const relation = (name: string): Term => ({ v: relationUri(name, base), e: true })
  const found: Extraction[] = []
  const waiting = chunks.values()
  let done = 0
  const work = async () => {
    for (const chunk of waiting) {
      signal.throwIfAborted()
      const tools = { signal, document, source, entity, relation }
      const extraction: unknown = await extractor(chunk, tools)
      signal.throwIfAborted()
      found[chunk.index] = checkExtraction(extraction, chunk.index)
      progress(++done, chunks.length)
      // An extractor that computes never lets go of the thread by itself.
      await setImmediate()
    }
  }
  try {
    await Promise.all(Array.from({ length: workers }, work))
  } catch (error) {
    failure.abort(error)
    throw error
  }
  return found
}

/** One entity for each URI: the first name and the first definition win. */
async function mergeEntities(
  chunks: readonly ChunkText[],
  extractions: readonly Extraction[],
  base: string,
  turns: Turns,
): Promise<Entity[]> {
  const merged = new Map<string, { name: string; definition?: string; chunks: number[] }>()
  for (const [index, { entities }] of extractions.entries()) {
    for (const { name: found, definition } of entities) {
      const uri = entityUri(found, base)
      const entity = merged.get(uri) ?? { name: collapseSpace(found), chunks: [] }
      if (entity.chunks.at(-1) !== index) entity.chunks.push(index)
      if (definition !== undefined) entity.definition ??= definition
      merged.set(uri, entity)
      if (turns.isLong) await turns.pass()
    }
  }
  // `New-York` and `New York` share a URI, and models name what a text says in other words.
  // Provenance leads to chunks with the name; to others only where there is no such chunk.
  const texts: string[] = []
  for (const { text } of chunks) {
    texts.push(collapseSpace(text).toLowerCase())
    if (turns.isLong) await turns.pass()
  }
  const entities: Entity[] = []
  for (const [uri, { chunks, ...entity }] of merged) {
    const name = entity.name.toLowerCase()
    const naming: number[] = []
    for (const index of chunks) {
      if (texts[index]?.includes(name)) naming.push(index)
      if (turns.isLong) await turns.pass()
    }
    entities.push({ uri, ...entity, chunks: naming.length > 0 ? naming : chunks })
  }
  return entities
}

async function mergeTriples(extractions: readonly Extraction[], turns: Turns): Promise<Triple[]> {
  const merged = new Map<string, Triple>()
  for (const { triples } of extractions) {
    for (const triple of triples) {
      merged.set(keyOfTriple(triple), triple)
      if (turns.isLong) await turns.pass()
    }
  }
  return [...merged.values()]
}

async function withVectors(
  entities: readonly Entity[],
  embedder: Embedder,
  { signal }: StepContext,
): Promise<Entity[]> {
  const texts = entities.map(({ name, definition }) => {
    return definition === undefined ? name : `${name}: ${definition}`
  })
  const vectors = await embedVectors(embedder, texts, { signal })
  return entities.map((entity, i) => {
    const vector = vectors[i]
    return vector === undefined ? entity : { ...entity, vector }
  })
}
