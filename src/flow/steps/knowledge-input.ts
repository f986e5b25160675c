// What `store` and `index` get, checked: the step before may be anybody's code.

import { annotationProblem, graphProblem } from '../../terms.js'
import { Turns } from '../../turns.js'
import type { Triple, Vector } from '../../types.js'
import type { StepContext } from '../types.js'
import type { Chunk, Entity } from './types.js'
import { Problems } from '../../door/problems.js'
import { isRecord, joined, shown, type Fields } from '../../door/wording.js'

/** An ExtractOutput, with nothing where a flow has no such step. */
export interface Knowledge {
  readonly chunks: readonly Chunk[]
  /** One of each chunk, or none at all. */
  readonly vectors: readonly Vector[]
  readonly entities: readonly Entity[]
  readonly triples: readonly Triple[]
}

/**
 * A long text has hundreds of thousands of triples: others have turns meanwhile.
 * @throws LorekeepError `LK_STEP_INPUT` with `details` `{ step, errors }`; the signal's reason
 */
export async function checkKnowledge(
  input: unknown,
  step: string,
  { document: { text }, signal }: Pick<StepContext, 'document' | 'signal'>,
): Promise<Knowledge> {
  const turns = new Turns(signal)
  const each = async (items: readonly unknown[], check: (item: unknown, at: number) => void) => {
    for (const [at, item] of items.entries()) {
      check(item, at)
      if (turns.isLong) await turns.pass()
    }
  }
  const reader = new KnowledgeReader()
  const given = isRecord(input) ? input : {}
  const chunks = reader.list(given, 'chunks')
  const vectors = reader.list(given, 'vectors')
  const entities = reader.list(given, 'entities')
  const triples = reader.list(given, 'triples')
  if (given['chunks'] === undefined) {
    reader.fail(
      'chunks',
      `are missing: '${step}' works on what 'chunk' returned, and the steps between have to hand it on`,
    )
  }
  await each(chunks, (chunk, at) => reader.chunk(chunk, at, text))
  await each(vectors, (vector, at) => reader.vector(vector, `vectors[${at}]`))
  // Where there is no list of chunks, there is no telling which of them there are.
  const count = Array.isArray(given['chunks']) ? chunks.length : Infinity
  if (vectors.length > 0 && vectors.length !== count && count !== Infinity) {
    reader.fail('vectors', `are ${vectors.length}, of ${count} chunks: 'embed' gives each one`)
  }
  await each(entities, (entity, at) => reader.entity(entity, at, count))
  await each(triples, (triple, at) => reader.triple(triple, at))
  reader.end(step)
  return { chunks, vectors, entities, triples } as Knowledge
}

class KnowledgeReader {
  readonly #uris = new Set<string>()
  // Most inputs are right.
  #problems: Problems | undefined

  /** Empty where it is left out. */
  list(given: Fields, name: string): readonly unknown[] {
    const { [name]: value } = given
    if (Array.isArray(value)) return value
    if (value !== undefined) this.fail(name, `must be an array, not ${shown(value)}`)
    return []
  }

  chunk(chunk: unknown, at: number, { length }: string): void {
    const { index, start, end } = isRecord(chunk) ? chunk : {}
    if (index !== at) this.fail(`chunks[${at}].index`, `must be ${at}, not ${shown(index)}`)
    if (isCount(start) && isCount(end) && start <= end && end <= length) return
    this.fail(
      `chunks[${at}]`,
      `must lie in the ${length} code units of the text: from ${shown(start)} to ${shown(end)}`,
    )
  }

  vector(vector: unknown, path: string): void {
    if (Array.isArray(vector)) return
    if (vector instanceof Float32Array || vector instanceof Float64Array) return
    this.fail(path, `must be an array of numbers, not ${shown(vector)}`)
  }

  entity(entity: unknown, at: number, chunkCount: number): void {
    const path = `entities[${at}]`
    const { uri, name, definition, aliases, chunks, vector } = isRecord(entity) ? entity : {}
    if (typeof uri !== 'string' || uri === '') {
      this.fail(`${path}.uri`, `must be a URI, not ${shown(uri)}`)
    } else {
      if (this.#uris.has(uri)) this.fail(`${path}.uri`, 'is that of an entity before it')
      this.#uris.add(uri)
    }
    if (typeof name !== 'string') this.fail(`${path}.name`, `must be a string, not ${shown(name)}`)
    if (definition !== undefined && typeof definition !== 'string') {
      this.fail(`${path}.definition`, `must be a string, not ${shown(definition)}`)
    }
    if (aliases !== undefined) this.aliases(aliases, `${path}.aliases`)
    if (vector !== undefined) this.vector(vector, `${path}.vector`)
    let before = -1
    for (const index of Array.isArray(chunks) ? (chunks as readonly unknown[]) : [undefined]) {
      if (!isCount(index) || index <= before || index >= chunkCount) {
        this.fail(`${path}.chunks`, 'must be indexes of the chunks, ascending')
        break
      }
      before = index
    }
  }

  aliases(aliases: unknown, path: string): void {
    const isAlias = (alias: unknown) =>
      isRecord(alias) &&
      typeof alias['name'] === 'string' &&
      typeof alias['uri'] === 'string' &&
      alias['uri'] !== ''
    if (Array.isArray(aliases) && aliases.every(isAlias)) return
    this.fail(path, `must be an array of { uri, name }, not ${shown(aliases)}`)
  }

  triple(triple: unknown, at: number): void {
    const terms = isRecord(triple) ? triple : {}
    const problem = graphProblem(terms['g'])
    if (problem !== undefined) this.fail(`triples[${at}].g`, problem)
    for (const name of ['s', 'p', 'o']) {
      const term = terms[name]
      const path = `triples[${at}].${name}`
      if (isRecord(term) && typeof term['v'] === 'string' && typeof term['e'] === 'boolean') {
        const { e, dt, ln } = term
        const [member, message] = annotationProblem({ e, dt, ln }) ?? []
        if (message !== undefined) this.fail(joined(path, member ?? ''), message)
        continue
      }
      this.fail(path, `must be a term { v, e }, not ${shown(term)}`)
    }
  }

  fail(path: string, message: string): void {
    this.#problems ??= new Problems()
    this.#problems.fail(path, message)
  }

  /** @throws LorekeepError where anything was wrong */
  end(step: string): void {
    if (this.#problems !== undefined) throw this.#problems.error('LK_STEP_INPUT', { step })
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
