// The file of the reference memory server of the Model Context Protocol, as a core: a line of JSON for each entity, with
// its observations, and for each relation. What each line says becomes a passage, which questions find and cite, of a
// document that has all of them; the graph is that of a text in which the same was found.

import { coreMessages } from '../../../flow/steps/store.js'
import { collapseSpace, entityUri, nameProblem, relationUri } from '../../../flow/steps/names.js'
import type { Entity } from '../../../flow/steps/types.js'
import { parseJson } from '../../../json-text.js'
import type { CoreRef } from '../../../knowledge/types.js'
import type { CoreMessage, Triple } from '../../../types.js'
import { vocabulary } from '../../../vocabulary.js'
import { inputName } from '../../input/input.js'
import { describe } from '../../output/failure.js'

/** Told when the last message was read. */
export interface MemoryCounts {
  entities: number
  observations: number
  relations: number
  /** Named in relations alone. */
  dangling: number
  /** Lines, observations or relations that say what another has said. */
  repeated: number
  /** Members that the format does not have → how often. */
  readonly unknown: Map<string, number>
}

export interface MemoryOptions {
  readonly file: string
  readonly ref: CoreRef
  readonly collection: string
  /** Of URIs, as flows take it: those of entities and relations have `e/` behind it. */
  readonly base: string
  readonly counts: MemoryCounts
}

/** What a string of a core may have, in bytes, and its name before it. */
const maxObservation = 500_000

export function noCounts(): MemoryCounts {
  return {
    entities: 0,
    observations: 0,
    relations: 0,
    dangling: 0,
    repeated: 0,
    unknown: new Map(),
  }
}

/**
 * All of it is in memory, as it is in the server that wrote it.
 * @throws Error with the first line that is wrong, before any message
 */
export async function* memoryMessages(
  source: AsyncIterable<Uint8Array>,
  options: MemoryOptions,
): AsyncGenerator<CoreMessage, void, undefined> {
  const chunks: Uint8Array[] = []
  for await (const chunk of source) chunks.push(chunk)
  const memory = new Memory(`${options.base}e/`, options.counts)
  for (const [line, bytes] of linesOf(Buffer.concat(chunks))) {
    try {
      memory.take(bytes)
    } catch (cause) {
      throw new Error(`${inputName(options.file)}:${line}: ${describe(cause)}`, { cause })
    }
  }
  const { text, found, knowledge } = memory.finish()
  const { ref, collection, base } = options
  const document = { ...ref, collection, metadata: found, text }
  yield* coreMessages(document, knowledge, { base })
}

/** Those that are not empty, with their numbers, from 1. */
function* linesOf(bytes: Buffer): Generator<readonly [line: number, bytes: Buffer]> {
  for (let [line, at] = [1, 0]; at < bytes.length; line++) {
    const end = bytes.indexOf('\n', at)
    const whole = bytes.subarray(at, end === -1 ? bytes.length : end)
    if (whole.some((byte) => byte > 0x20)) yield [line, whole]
    at = end === -1 ? bytes.length : end + 1
  }
}

interface Known {
  readonly name: string
  readonly chunks: number[]
  isDeclared: boolean
}

class Memory {
  readonly #base: string
  readonly #counts: MemoryCounts
  readonly #known = new Map<string, Known>()
  readonly #triples = new Map<string, Triple>()
  readonly #passages = new Set<string>()

  constructor(base: string, counts: MemoryCounts) {
    this.#base = base
    this.#counts = counts
  }

  /** @throws Error that says what is wrong */
  take(line: Uint8Array): void {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(line)
    const given = parseJson(text)
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      throw new Error('a line has to be a JSON object')
    }
    const members = given as Readonly<Record<string, unknown>>
    if (members['type'] === 'entity') this.#takeEntity(members)
    else if (members['type'] === 'relation') this.#takeRelation(members)
    else throw new Error(`type has to be "entity" or "relation", not ${shown(members['type'])}`)
  }

  finish() {
    const { text, chunks } = textOf(this.#passages)
    const known = [...this.#known]
    this.#counts.dangling = known.filter(([, { isDeclared }]) => !isDeclared).length
    const labelled = known.filter(([, { chunks }]) => chunks.length > 0)
    const entities: Entity[] = labelled.map(([uri, { name, chunks }]) => ({ uri, name, chunks }))
    // What no passage is about has its name all the same.
    const found = known
      .filter(([, { chunks }]) => chunks.length === 0)
      .map(([uri, { name }]) => label(uri, name))
    const triples = [...this.#triples.values()]
    return { text, found, knowledge: { chunks, vectors: [], entities, triples } }
  }

  #takeEntity(given: Readonly<Record<string, unknown>>): void {
    this.#checkMembers(given, ['type', 'name', 'entityType', 'observations'])
    const name = nameIn(given, 'name')
    const type = nameIn(given, 'entityType')
    const observations = given['observations']
    if (!Array.isArray(observations)) throw new Error('observations has to be a list of texts')
    const texts = observations.map(observationOf)
    const entity = this.#entity(name)
    if (entity.isDeclared) this.#counts.repeated++
    else this.#counts.entities++
    entity.isDeclared = true
    const uri = entityUri(name, this.#base)
    const typeUri = entityUri(type, this.#base)
    this.#add({ s: iri(uri), p: iri(vocabulary.type), o: iri(typeUri) })
    this.#add(label(typeUri, type))
    // Another spelling of the name.
    if (entity.name !== name) this.#add(label(uri, name))
    for (const text of texts) {
      if (this.#say(`${entity.name}: ${text}`, [entity])) this.#counts.observations++
      this.#add({ s: iri(uri), p: iri(note), o: { v: text, e: false } })
    }
  }

  #takeRelation(given: Readonly<Record<string, unknown>>): void {
    this.#checkMembers(given, ['type', 'from', 'to', 'relationType'])
    const [from, to] = [nameIn(given, 'from'), nameIn(given, 'to')]
    const relation = nameIn(given, 'relationType')
    const p = iri(relationUri(relation, this.#base))
    const [one, other] = [this.#entity(from), this.#entity(to)]
    const passage = `${one.name} ${relation} ${other.name}.`
    if (this.#say(passage, [one, other])) this.#counts.relations++
    this.#add(label(p.v, relation))
    this.#add({ s: iri(entityUri(from, this.#base)), p, o: iri(entityUri(to, this.#base)) })
  }

  #entity(name: string): Known {
    const uri = entityUri(name, this.#base)
    const entity = this.#known.get(uri) ?? { name, chunks: [], isDeclared: false }
    this.#known.set(uri, entity)
    return entity
  }

  /** Whether it is new. */
  #say(passage: string, about: readonly Known[]): boolean {
    if (this.#passages.has(passage)) {
      this.#counts.repeated++
      return false
    }
    for (const { chunks } of new Set(about)) chunks.push(this.#passages.size)
    this.#passages.add(passage)
    return true
  }

  #add(triple: Triple): void {
    const { s, p, o } = triple
    this.#triples.set(JSON.stringify([s.v, p.v, o.v]), triple)
  }

  #checkMembers(given: object, names: readonly string[]): void {
    const { unknown } = this.#counts
    for (const name of Object.keys(given)) {
      if (!names.includes(name)) unknown.set(name, (unknown.get(name) ?? 0) + 1)
    }
  }
}

/** As SKOS has it for what is said of a thing and is no definition. */
const note = 'http://www.w3.org/2004/02/skos/core#note'

/** One under the other, each of them a chunk. */
function textOf(passages: ReadonlySet<string>) {
  const chunks: { index: number; start: number; end: number }[] = []
  let start = 0
  for (const passage of passages) {
    chunks.push({ index: chunks.length, start, end: start + passage.length })
    start += passage.length + 1
  }
  return { text: [...passages].join('\n'), chunks }
}

function nameIn(given: Readonly<Record<string, unknown>>, member: string): string {
  const name = given[member]
  const problem = nameProblem(name)
  if (problem !== undefined) throw new Error(`${member}: ${problem}`)
  return inWords(name as string)
}

function observationOf(text: unknown, at: number): string {
  const path = `observations[${at}]`
  if (typeof text !== 'string') throw new Error(`${path} has to be a text, not ${shown(text)}`)
  if (!text.isWellFormed()) throw new Error(`${path} has half of a surrogate pair`)
  if (Buffer.byteLength(text) > maxObservation) {
    throw new Error(`${path} has more than ${maxObservation} bytes`)
  }
  return text
}

/** As a text has it: names are often `John_Smith`, and relations `works_at`. */
function inWords(name: string): string {
  return collapseSpace(name.replaceAll('_', ' ')) || collapseSpace(name)
}

function label(uri: string, name: string): Triple {
  return { s: iri(uri), p: iri(vocabulary.label), o: { v: name, e: false } }
}

function iri(v: string) {
  return { v, e: true }
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100)
}
