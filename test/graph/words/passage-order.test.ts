// Answers are the same whatever parts an index has: also which passages of one score are left out.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { NameBook } from '../../../src/graph/ranking/names.js'
import { bounds } from '../../../src/graph/words/bounds.js'
import { createLorekeep, type Lorekeep } from '../../../src/lorekeep.js'
import type { Triple } from '../../../src/types.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { entity, literal, messageOf } from '../asked.js'

const user = 'u'
const of = (name: keyof typeof vocabulary) => entity(vocabulary[name])

async function open(t: Test): Promise<Lorekeep> {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  return keep
}

function passage(chunk: string, document: string, title: string, text: string): Triple[] {
  return [
    { s: entity(document), p: of('name'), o: literal(title) },
    { s: entity(chunk), p: of('isPartOf'), o: entity(document) },
    { s: entity(chunk), p: of('text'), o: literal(text) },
  ]
}

/** Each as a core, with a question behind some, which makes parts of what waits. */
async function writeEach(keep: Lorekeep, cores: readonly Triple[][]): Promise<void> {
  for (const [n, triples] of cores.entries()) {
    await keep.knowledge.write({ user, id: `core ${n}` }, [messageOf(triples)])
    if (n % 7 === 6) await keep.knowledge.index({ user, id: `core ${n}` })
    if (n % 3 === 2) await keep.knowledge.graph({ user }).search({ text: 'boat' })
  }
}

t.test('of passages of one score the same are left out before and after a merge', async (t) => {
  const keep = await open(t)
  const cores = Array.from({ length: 30 }, (_, n) => passage(`c${n}`, `d${n}`, 'Rivers', 'a boat'))
  await writeEach(keep, cores)
  const ask = async (k: number) => {
    const found = await keep.knowledge.graph({ user }).search({ text: 'boat rivers', k })
    return found.map(({ chunk }) => chunk.v)
  }
  const before = [await ask(1), await ask(7), await ask(100)]
  t.strictSame(
    before.map(({ length }) => length),
    [1, 7, 30],
  )
  await keep.knowledge.index({ user })
  t.strictSame([await ask(1), await ask(7), await ask(100)], before)
})

t.test('texts of one passage with one score come in one order', async (t) => {
  const keep = await open(t)
  await writeEach(
    keep,
    Array.from({ length: 9 }, (_, n) => passage('c', 'd', 'Rivers', `boat number w${n}`)),
  )
  const ask = async () => {
    const found = await keep.knowledge.graph({ user }).search({ text: 'boat' })
    return found.map(({ text }) => text)
  }
  const before = await ask()
  await keep.knowledge.index({ user })
  t.strictSame(await ask(), before)
  t.equal(before.length, 9)
})

t.test('a name leads where it is in few passages of all parts together', async (t) => {
  const keep = await open(t)
  const cores = Array.from({ length: 6 }, (_, n) => {
    return passage(`c${n}`, `d${n}`, n === 0 ? 'Ada Lovelace' : `Letter ${n}`, 'to Ada Lovelace')
  })
  await writeEach(keep, cores)
  const { having } = NameBook.prototype
  const { mostListed } = bounds
  t.teardown(() => {
    NameBook.prototype.having = having
    bounds.mostListed = mostListed
  })
  const ask = async () => {
    const led: number[] = []
    NameBook.prototype.having = async function (...asked) {
      const found = await having.apply(this, asked)
      if (asked[0].includes('ada')) led.push(found.length)
      return found
    }
    await keep.knowledge.graph({ user }).retrieve({ text: 'Where is Ada Lovelace?' })
    return led
  }
  const answers = async () => {
    const given: number[][] = []
    for (bounds.mostListed of [6, 5, 2]) given.push(await ask())
    return given
  }
  const before = await answers()
  t.strictSame(before, [[6], [0], [0]])
  await keep.knowledge.index({ user })
  t.strictSame(await answers(), before)
})

const seed = pickSeed()
t.test(`retrieve() finds the same before and after a merge (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const names = ['Ellen', 'Old Thames', 'Guest', 'Iffley Lock', 'Dick', 'Runnymede']
  const words = [...names, 'boat', 'rows', 'by', 'house']
  const some = (most: number) => {
    return Array.from({ length: 1 + random.below(most) }, () => random.pick(words)).join(' ')
  }
  for (let round = 0; round < 3; round++) {
    const keep = await open(t)
    const cores = Array.from({ length: 12 }, (_, n) => {
      // The passages of a document are in several cores, and one title is that of many.
      const document = random.below(6)
      const title = random.chance(0.3) ? 'Runnymede' : (names[document] as string)
      return Array.from({ length: 1 + random.below(8) }, (_, at) =>
        passage(`c${n}/${at}`, `d${document}`, title, some(6)),
      ).flat()
    })
    await writeEach(keep, cores)
    const questions = Array.from({ length: 5 }, () => some(4))
    const ask = async () => {
      const graph = keep.knowledge.graph({ user })
      const answers = await Promise.all(questions.map((text) => graph.retrieve({ text })))
      return answers.map(({ sources }) =>
        sources.map(({ chunk, score, via }) => [chunk.v, score.toFixed(9), via]),
      )
    }
    const before = await ask()
    await keep.knowledge.index({ user })
    t.strictSame(await ask(), before)
  }
})
