// What an extractor returns, checked: it may be anybody's function, and a model behind it.

import { LorekeepError } from '../../errors.js'
import { annotationProblem, graphProblem, termOf } from '../../terms.js'
import type { Term, Triple } from '../../types.js'
import { nameProblem } from './names.js'
import type { Extraction } from './types.js'
import { isRecord, joined } from '../../door/wording.js'

const maxEntities = 5000
const maxTriples = 20_000
const maxTextLength = 100_000

/** @throws LorekeepError `LK_STEP_OUTPUT` with `details` `{ chunk, errors }`, the first of them */
export function checkExtraction(value: unknown, chunk: number): Extraction {
  const reader = new ExtractionReader(chunk)
  if (!isRecord(value)) return reader.fail('', 'must be { entities, triples }')
  return {
    entities: reader.list(value, 'entities', maxEntities).map((entity, i) => {
      return reader.entity(entity, `entities[${i}]`)
    }),
    triples: reader.list(value, 'triples', maxTriples).map((triple, i): Triple => {
      const path = `triples[${i}]`
      if (!isRecord(triple)) return reader.fail(path, 'must be { s, p, o }')
      const { s, p, o, g } = triple
      const message = graphProblem(g)
      if (message !== undefined) return reader.fail(`${path}.g`, message)
      return {
        s: reader.term(s, `${path}.s`),
        p: reader.term(p, `${path}.p`),
        o: reader.term(o, `${path}.o`),
        ...(typeof g === 'string' && { g }),
      }
    }),
  }
}

class ExtractionReader {
  readonly #chunk: number

  constructor(chunk: number) {
    this.#chunk = chunk
  }

  list(from: Readonly<Record<string, unknown>>, name: string, most: number): readonly unknown[] {
    const value = from[name]
    if (!Array.isArray(value)) return this.fail(name, 'must be an array')
    if (value.length <= most) return value as readonly unknown[]
    return this.fail(name, `are ${value.length}, at most ${most} of a chunk are taken`)
  }

  entity(value: unknown, path: string): Extraction['entities'][number] {
    if (!isRecord(value)) return this.fail(path, 'must be { name }')
    const { name, definition } = value
    const problem = nameProblem(name)
    if (problem !== undefined) return this.fail(`${path}.name`, `is not usable: ${problem}`)
    if (definition === undefined) return { name: name as string }
    return { name: name as string, definition: this.text(definition, `${path}.definition`) }
  }

  term(value: unknown, path: string): Term {
    const { v, e, dt, ln } = isRecord(value) ? value : {}
    if (typeof e !== 'boolean') return this.fail(path, 'must be a term { v, e }')
    const text = this.text(v, `${path}.v`)
    if (e && text === '') return this.fail(`${path}.v`, 'must be a URI')
    const [member, message] = annotationProblem({ e, dt, ln }) ?? []
    if (message !== undefined) return this.fail(joined(path, member ?? ''), message)
    return termOf({ v: text, e, dt, ln } as Term)
  }

  text(value: unknown, path: string): string {
    if (typeof value !== 'string') return this.fail(path, 'must be a string')
    if (!value.isWellFormed()) return this.fail(path, 'has half of a surrogate pair')
    if (value.length <= maxTextLength) return value
    return this.fail(path, `has ${value.length} characters, ${maxTextLength} are allowed`)
  }

  fail(path: string, message: string): never {
    const chunk = this.#chunk
    const what = path === '' ? 'it' : path
    throw new LorekeepError(
      'LK_STEP_OUTPUT',
      `what the extractor returned of chunk ${chunk}: ${what} ${message}`,
      { details: { chunk, errors: [{ path, message }] } },
    )
  }
}
