// What `store` and `index` get, checked: the step before may be anybody's code.

import { LorekeepError } from '../../errors.js'
import type { Triple, Vector } from '../../types.js'
import type { FlowDocument } from '../types.js'
import type { Chunk, Entity } from './types.js'
import { isRecord } from '../../door/wording.js'

/** An ExtractOutput, with nothing where a flow has no such step. */
export interface Knowledge {
  readonly chunks: readonly Chunk[]
  /** One of each chunk, or none at all. */
  readonly vectors: readonly Vector[]
  readonly entities: readonly Entity[]
  readonly triples: readonly Triple[]
}

/** @throws LorekeepError `LK_STEP_INPUT` with `details` `{ step, path }` */
export function checkKnowledge(input: unknown, step: string, { text }: FlowDocument): Knowledge {
  const reader = new KnowledgeReader(step)
  const given = isRecord(input) ? input : {}
  const chunks = reader.list(given, 'chunks', 'chunk')
  const vectors = reader.list(given, 'vectors')
  const entities = reader.list(given, 'entities')
  const triples = reader.list(given, 'triples')
  chunks.forEach((chunk, at) => reader.chunk(chunk, at, text))
  vectors.forEach((vector, at) => reader.vector(vector, `vectors[${at}]`))
  if (vectors.length > 0 && vectors.length !== chunks.length) {
    reader.fail(
      'vectors',
      `are ${vectors.length}, of ${chunks.length} chunks: 'embed' gives each one`,
    )
  }
  entities.forEach((entity, at) => reader.entity(entity, at, chunks.length))
  triples.forEach((triple, at) => reader.triple(triple, at))
  return { chunks, vectors, entities, triples } as Knowledge
}

class KnowledgeReader {
  readonly #step: string
  readonly #uris = new Set<string>()

  constructor(step: string) {
    this.#step = step
  }

  /** `from` names the step that has to have come before. */
  list(given: Readonly<Record<string, unknown>>, name: string, from?: string): readonly unknown[] {
    const value = given[name]
    if (Array.isArray(value)) return value
    if (value !== undefined) this.fail(name, 'must be an array')
    if (from === undefined) return []
    return this.fail(
      name,
      `are missing: '${this.#step}' works on what '${from}' returned, and the steps between have to hand it on`,
    )
  }

  chunk(chunk: unknown, at: number, { length }: string): void {
    const { index, start, end } = isRecord(chunk) ? chunk : {}
    if (index !== at) this.fail(`chunks[${at}].index`, `must be ${at}, not ${String(index)}`)
    if (isCount(start) && isCount(end) && start <= end && end <= length) return
    this.fail(
      `chunks[${at}]`,
      `must lie in the ${length} code units of the text: from ${String(start)} to ${String(end)}`,
    )
  }

  vector(vector: unknown, path: string): void {
    if (Array.isArray(vector)) return
    if (vector instanceof Float32Array || vector instanceof Float64Array) return
    this.fail(path, 'must be an array of numbers')
  }

  entity(entity: unknown, at: number, chunkCount: number): void {
    const path = `entities[${at}]`
    const { uri, name, definition, chunks, vector } = isRecord(entity) ? entity : {}
    if (typeof uri !== 'string' || uri === '') this.fail(`${path}.uri`, 'must be a URI')
    if (this.#uris.has(uri)) this.fail(`${path}.uri`, `is ${uri}, as an entity before it has it`)
    this.#uris.add(uri)
    if (typeof name !== 'string') this.fail(`${path}.name`, 'must be a string')
    if (definition !== undefined && typeof definition !== 'string') {
      this.fail(`${path}.definition`, 'must be a string')
    }
    if (vector !== undefined) this.vector(vector, `${path}.vector`)
    if (!Array.isArray(chunks)) this.fail(`${path}.chunks`, 'must be the indexes of its chunks')
    let before = -1
    for (const index of chunks as readonly unknown[]) {
      if (!isCount(index) || index <= before || index >= chunkCount) {
        this.fail(`${path}.chunks`, `must be indexes of the ${chunkCount} chunks, ascending`)
      }
      before = index
    }
  }

  triple(triple: unknown, at: number): void {
    const terms = isRecord(triple) ? triple : {}
    for (const name of ['s', 'p', 'o']) {
      const term = terms[name]
      if (isRecord(term) && typeof term['v'] === 'string' && typeof term['e'] === 'boolean')
        continue
      this.fail(`triples[${at}].${name}`, 'must be a term { v, e }')
    }
  }

  fail(path: string, reason: string): never {
    const step = this.#step
    throw new LorekeepError('LK_STEP_INPUT', `'${step}': ${path} ${reason}`, {
      details: { step, path },
    })
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
