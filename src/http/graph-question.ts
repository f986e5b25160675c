// What of a question is read before the graph gets it: names of members, and how much a client may
// ask for. All that is wrong with a body is told at once.

import { Members } from '../door/members.js'
import { aRule } from '../door/rules.js'
import { shown } from '../door/wording.js'
import { Question } from '../graph/question.js'
import type {
  EntityPattern,
  GraphQuery,
  QueryPattern,
  TriplePattern,
  Variable,
} from '../graph/types.js'
import { aLanguageRange } from '../terms.js'
import type { JsonObject, Vector } from '../types.js'
import { askedCollection } from './access.js'
import { actingUser } from './auth.js'
import type { Exchange } from './routes.js'

/** Which cores are asked; who may is looked at where it is called, when all of the body is known to be right. */
export function askedGraph(
  { principal, parameters, query }: Exchange,
  body: GraphBody,
): () => GraphQuery {
  const user = actingUser(principal, query.get('user'))
  const id = parameters.get('id')
  const cores = id === undefined ? body.cores() : [id]
  const named = body.text('collection')
  return () => {
    const collection = askedCollection(principal, named)
    return {
      user,
      ...(cores !== undefined && { cores }),
      ...(collection !== undefined && { collection }),
    }
  }
}

// Joins are planned by looking at each pattern beside each other one.
const maxPatterns = 64
export const maxCores = 1000
const maxGraphs = 1000
/** No core has longer ones, unless its host changed a limit. */
const maxVectorLength = 65_536
/** More than models take. */
const maxTextLength = 65_536
export const maxDepth = 100
const maxLanguages = 100

const aShare = aRule<number>(
  'a number from 0 to 1',
  (value) => typeof value === 'number' && value >= 0 && value <= 1,
)

/** Reads the members of a body that asks about cores; what is wrong ends in `LK_GRAPH_QUERY`. */
export class GraphBody extends Members {
  readonly #question: Question
  readonly #body: JsonObject

  constructor(body: JsonObject) {
    const question = new Question()
    super(body, '', question.problems)
    this.#question = question
    this.#body = body
  }

  /** How many of something. */
  count(name: string, most: number): number | undefined {
    return this.integer(name, 0, most)
  }

  cores(): readonly string[] | undefined {
    const cores = this.#list('cores', maxCores, 'ids')
    for (const [place, id] of cores?.entries() ?? []) {
      if (typeof id === 'string') continue
      this.#fail(`cores[${place}]`, `must be the id of a core, not ${shown(id)}`)
    }
    return cores as readonly string[] | undefined
  }

  pattern(): TriplePattern {
    const [g, filter] = [this.get('g'), this.get('filter')]
    if (Array.isArray(g) && this.#isTooLong(g, 'g', maxGraphs, 'graphs')) return {}
    return this.#question.triplePattern({ ...this.#places(), g, filter }, '')
  }

  /** Its three terms alone. */
  plainPattern(): Pick<TriplePattern, 's' | 'p' | 'o'> {
    return this.#question.triplePattern(this.#places(), '')
  }

  #places(): Readonly<Record<'s' | 'p' | 'o', unknown>> {
    return { s: this.get('s'), p: this.get('p'), o: this.get('o') }
  }

  patterns(): readonly QueryPattern[] {
    const patterns = this.#list('patterns', maxPatterns, 'patterns')
    return patterns === undefined ? [] : this.#question.queryPatterns(patterns, 'patterns')
  }

  /** One pattern or a list of them. */
  where(): readonly EntityPattern[] {
    const where = this.get('where')
    const isLong = Array.isArray(where) && this.#isTooLong(where, 'where', maxPatterns, 'patterns')
    return isLong ? [] : this.#question.entityPatterns(where, 'where')
  }

  selection(): readonly Variable[] | undefined {
    return this.#question.selection(this.get('select'), 'select')
  }

  vector(): Vector {
    return this.#vector(this.get('vector'), 'vector')
  }

  vectors(most: number): readonly Vector[] {
    const vectors = this.#list('vectors', most, 'vectors')
    if (!this.has('vectors')) this.#fail('vectors', 'is missing; it must be an array of vectors')
    return (vectors ?? []).map((vector, place) => this.#vector(vector, `vectors[${place}]`))
  }

  languages(): readonly string[] | undefined {
    const languages = this.#list('languages', maxLanguages, 'languages')
    return languages && this.list('languages', aLanguageRange)
  }

  /** The length alone: 413 is for bodies. */
  question(): unknown {
    const text = this.get('text')
    if (typeof text === 'string' && text.length > maxTextLength) {
      this.#fail('text', `has ${text.length} characters; there may be ${maxTextLength}`)
    }
    return text
  }

  /** Of passages and triples in a prompt; the graph looks at how little it may be. */
  promptLength(most: number): number | undefined {
    const length = this.get('maxPromptLength')
    if (typeof length === 'number' && length > most) {
      this.#fail('maxPromptLength', `is ${length}; it may be ${most}`)
    }
    return length as number | undefined
  }

  /** Which legs a retrieval goes by; the graph looks at them. */
  legs(): unknown {
    return this.get('use')
  }

  share(name: string): number | undefined {
    return this.take(name, aShare)
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#body, name)
  }

  /** Names the members that nobody has read. @throws LorekeepError `LK_GRAPH_QUERY` */
  override end(): void {
    super.end()
    this.#question.end()
  }

  /** As end(), for bodies of the reference system's clients, which say more than is asked for. */
  endLeniently(): void {
    this.#question.end()
  }

  #list(name: string, most: number, what: string): readonly unknown[] | undefined {
    const list = this.get(name)
    if (list === undefined) return undefined
    if (!Array.isArray(list)) {
      this.#fail(name, `must be an array of ${what}, not ${shown(list)}`)
      return undefined
    }
    return this.#isTooLong(list, name, most, what) ? undefined : list
  }

  #vector(value: unknown, path: string): Vector {
    const isLong = Array.isArray(value) && this.#isTooLong(value, path, maxVectorLength, 'numbers')
    return isLong ? [] : this.#question.vector(value, path)
  }

  #isTooLong(list: readonly unknown[], path: string, most: number, what: string): boolean {
    if (list.length <= most) return false
    this.#fail(path, `has ${list.length} ${what}; there may be ${most}`)
    return true
  }

  #fail(path: string, message: string): void {
    this.problems.fail(path, message)
  }
}
