// Small cores by the thousand, which come, grow, are replaced and go, while parts are made of them and merged;
// beside a map of what they say.

import assert from 'node:assert/strict'
import type { Graph, GraphSnapshot } from '../../../src/graph/types.js'
import { createLorekeep, type Lorekeep } from '../../../src/lorekeep.js'
import type { Backend } from '../../../src/storage.js'
import type { CoreMessage, Term, Triple } from '../../../src/types.js'
import { vocabulary } from '../../../src/vocabulary.js'
import type { Random } from '../../fixtures/random.js'
import { entity, literal, matched, messageOf, nameOf, setOf } from '../../graph/asked.js'
import { naiveSearch, type NaivePassage } from '../../graph/words/naive.js'
import { KeptBackend } from '../../objects/kept-backend.js'

export const user = 'u'
const collections = ['a', 'b', 'c']

interface Content {
  readonly collection: string
  readonly triples: readonly Triple[]
  readonly vector: readonly number[]
  readonly passages: readonly NaivePassage[]
}

/** What each core says, segment by segment. */
export type Model = Map<string, readonly Content[]>

export function contentOf(random: Random, name: string): Content {
  const triples = Array.from({ length: 1 + random.below(12) }, () => ({
    s: entity(`s${random.below(40)}`),
    p: entity(`p${random.below(4)}`),
    o: random.chance(0.5) ? entity(`s${random.below(40)}`) : literal(`o${random.below(60)}`),
  }))
  const own = { s: entity(name), p: entity('p0'), o: literal(name) }
  const passages = random.chance(0.5) ? passagesOf(random, name) : []
  return {
    collection: random.pick(collections),
    triples: [own, ...triples, ...passages.flatMap(triplesOfPassage)],
    passages,
    vector: [random.next() - 0.5, random.next() - 0.5, random.next() - 0.5],
  }
}

/** Some of the same name, some that others have, too. */
function passagesOf(random: Random, name: string): Content['passages'] {
  const title = random.chance(0.7) ? wordsOf(random, 3) : []
  const text = random.chance(0.2) ? ['w1', 'w2', 'w3'] : wordsOf(random, 12)
  const chunk = random.chance(0.3) ? `shared ${random.below(3)}` : name
  const first = { chunk: `${chunk}/c0`, title, text }
  return random.chance(0.5)
    ? [first]
    : [first, { chunk: `${chunk}/c1`, title, text: wordsOf(random, 20) }]
}

/** The first ones are far more frequent than the last. */
function wordsOf(random: Random, most: number): string[] {
  const count = 1 + random.below(most)
  return Array.from({ length: count }, () => `w${random.below(1 + random.below(30))}`)
}

const document = (chunk: string) => entity(chunk.slice(0, -3))

function triplesOfPassage({ chunk, title, text }: Content['passages'][number]): Triple[] {
  const said = [
    { s: entity(chunk), p: { v: vocabulary.isPartOf, e: true }, o: document(chunk) },
    { s: entity(chunk), p: { v: 'https://schema.org/text', e: true }, o: literal(text.join(' ')) },
  ]
  if (title.length === 0) return said
  const name = { v: 'https://schema.org/name', e: true }
  return [...said, { s: document(chunk), p: name, o: literal(title.join(' ')) }]
}

export function messagesOf({ collection, triples, vector }: Content): CoreMessage[] {
  const m = { i: '', m: [], u: '', c: collection }
  const own = triples[0] as Triple
  return [messageOf(triples, collection), ['ge', { m, e: [{ e: own.s, v: [[...vector]] }] }]]
}

function triplesOf(model: Model, cores: readonly string[] | undefined, collection?: string) {
  return [...model]
    .filter(([id]) => cores === undefined || cores.includes(id))
    .flatMap(([, segments]) => segments)
    .filter((content) => collection === undefined || content.collection === collection)
    .flatMap(({ triples }) => triples)
}

/** Each a thing of its own: what two segments say counts twice. */
function passagesIn(
  model: Model,
  cores: readonly string[] | undefined,
  asked: string | undefined,
): NaivePassage[] {
  return [...model]
    .filter(([id]) => cores === undefined || cores.includes(id))
    .flatMap(([, segments]) => segments)
    .filter(({ collection }) => asked === undefined || collection === asked)
    .flatMap(({ passages }) => passages.map((passage) => ({ ...passage })))
}

async function assertFound(
  graph: Graph,
  random: Random,
  passages: readonly NaivePassage[],
  place: string,
): Promise<void> {
  const [first, second] = [wordsOf(random, 2), wordsOf(random, 1)]
  const question = {
    words: first,
    phrase: random.chance(0.3) ? [`w${random.below(5)}`, `w${random.below(5)}`] : undefined,
    excluded: random.chance(0.3) && !first.includes(second[0] as string) ? second[0] : undefined,
  }
  const { words, phrase, excluded } = question
  const text = [...words, phrase && `"${phrase.join(' ')}"`, excluded && `-${excluded}`]
    .filter(Boolean)
    .join(' ')
  const expected = naiveSearch(passages, question)
  const found = await graph.search({ text, k: 10_000 })
  const named = expected.map(({ chunk, score }) => ({ chunk: entity(chunk), score }))
  assert.deepEqual(inOrder(found), inOrder(named), `${text}: ${place}`)
  assert.deepEqual(
    found.map(({ score }) => score),
    found.map(({ score }) => score).sort((a, b) => b - a),
  )
}

/** Scores may differ in their last digits, and so what has the same score in its order. */
function inOrder(found: readonly { readonly chunk: Term; readonly score: number }[]): string[] {
  return found.map(({ chunk, score }) => `${score.toFixed(9)} ${chunk.v}`).sort()
}

export async function assertAsked(
  { knowledge }: Lorekeep,
  model: Model,
  random: Random,
): Promise<void> {
  const ids = [...model.keys()]
  const some = ids.filter(() => random.chance(3 / Math.max(1, ids.length)))
  const collection = random.chance(0.5) ? random.pick(collections) : undefined
  for (const cores of [undefined, some]) {
    const graph = knowledge.graph({
      user,
      ...(cores && { cores }),
      ...(collection && { collection }),
    })
    const said = triplesOf(model, cores, collection)
    const place = `${cores?.join() ?? 'all'} in ${collection ?? 'all'}`
    assert.equal(await graph.count(), setOf(said).length, place)
    const s = entity(`s${random.below(40)}`)
    const about = said.filter((triple) => nameOf(triple.s) === nameOf(s))
    assert.deepEqual(await matched(graph, { s }), setOf(about), place)
    const vectors = [...model].filter(([id]) => cores === undefined || cores.includes(id))
    const names = new Set(
      vectors.flatMap(([, segments]) =>
        segments
          .filter((content) => collection === undefined || content.collection === collection)
          .map(({ triples }) => (triples[0] as Triple).s.v),
      ),
    )
    await assertFound(graph, random, passagesIn(model, cores, collection), place)
    const found = await graph.nearest([1, 0.5, -0.5], { k: names.size + 5 })
    assert.deepEqual(found.map(({ entity: { v } }) => v).sort(), [...names].sort(), place)
    for (const { entity: named, core } of found) {
      const isSaid = model.get(core)?.some(({ triples }) => triples[0]?.s.v === named.v)
      assert.ok(isSaid, `${named.v} of ${core}`)
    }
  }
}

export async function assertSound(keep: Lorekeep): Promise<void> {
  const findings: string[] = []
  for await (const { severity, what, message } of keep.verify({ deep: true })) {
    if (severity === 'error') findings.push(`${what}: ${message}`)
  }
  assert.deepEqual(findings, [])
}

interface Held {
  readonly snapshot: GraphSnapshot
  readonly said: readonly string[]
}

/** A change of the model once it has happened. */
async function change(
  { knowledge }: Lorekeep,
  model: Model,
  random: Random,
  cores: number,
): Promise<string> {
  const id = `core ${random.below(cores)}`
  const ref = { user, id }
  const kind = random.below(10)
  if (kind === 0) {
    assert.equal(await knowledge.delete(ref), model.delete(id))
    return `delete ${id}`
  }
  const content = contentOf(random, `${id} ${random.below(1e9)}`)
  const mode = kind < 4 ? 'replace' : 'append'
  await knowledge.write(ref, messagesOf(content), { mode, index: random.chance(0.5) })
  model.set(id, mode === 'replace' ? [content] : [...(model.get(id) ?? []), content])
  return `${mode} ${id}`
}

interface ModelRun {
  readonly backend: Backend
  readonly random: Random
  readonly steps: number
  readonly cores: number
  /** So many steps from one look at all that is said to the next. */
  readonly every: number
  readonly onError: (error: unknown) => void
}

/** Gives how many triples there were at the end. Rejects where anything was not as it should be. */
export async function modelRun(run: ModelRun): Promise<number> {
  const { backend, random, steps, cores, every, onError } = run
  const open = () => createLorekeep({ backend: new KeptBackend(backend), onError })
  let keep = await open()
  const model: Model = new Map()
  const held: Held[] = []
  for (let step = 0; step < steps; step++) {
    await change(keep, model, random, cores)
    if (step % every === 0) await assertAsked(keep, model, random)
    if (random.chance(0.1 / every)) {
      const snapshot = await keep.knowledge.graph({ user }).snapshot()
      held.push({ snapshot, said: setOf(triplesOf(model, undefined)) })
    }
    if (held.length > 0 && random.chance(0.1 / every)) {
      const { snapshot, said } = held.shift() as Held
      assert.deepEqual(await matched(snapshot), said, 'a snapshot has changed')
      snapshot.close()
    }
    if (random.chance(0.05 / every)) await keep.knowledge.index({ user })
    if (random.chance(0.05)) await new Promise((resolve) => setTimeout(resolve, 3))
    if (random.chance(0.02 / every)) {
      for (const { snapshot } of held.splice(0)) snapshot.close()
      await keep.close()
      keep = await open()
    }
  }
  for (const { snapshot } of held) snapshot.close()
  await assertAsked(keep, model, random)
  await assertSound(keep)
  const { state, waiting, parts, triples } = await keep.knowledge.index({ user })
  assert.deepEqual(
    { state, waiting, parts },
    { state: 'complete', waiting: { segments: 0, bytes: 0 }, parts: 3 },
  )
  assert.equal(triples, setOf(triplesOf(model, undefined)).length)
  await assertAsked(keep, model, random)
  await assertSound(keep)
  await keep.close()
  await backend.close()
  return triples
}
