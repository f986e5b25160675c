// Text to answer: a whole book through the default flow, and a question to what it became.

import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import { vocabulary } from '../../../src/vocabulary.js'

const file = resolve('../shared/data/news-from-nowhere.txt')
const skip = existsSync(file) ? false : 'no novel: ../shared/data is not there'
const user = 'alice'
const id = 'https://www.gutenberg.org/ebooks/3261'
const river = /\bThames\b/i
const rowing = /\b(row(s|ed|ing)?|scull(s|ed|ing)?|oars?|boats?)\b/i

t.test('who rowed the boat on the Thames?', { skip }, async (t) => {
  const book = readFileSync(file, 'utf8')
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { knowledge, flows } = keep
  const text = Buffer.from(book).toString('base64')
  const { job } = await flows.load('default', { id, user, text })
  flows.run()
  const states: string[] = []
  for await (const { state } of flows.watch({ job })) states.push(state)
  t.equal(states.at(-1), 'done')

  const graph = knowledge.graph({ user })
  const question = { text: 'Who rowed the boat on the Thames?' }
  const found = await graph.retrieve(question)
  const { entities, triples, labels, sources } = found

  t.equal(entities.length, 50)
  t.strictSame(
    entities.slice(0, 2).map(({ entity }) => labels[entity.v]?.toLowerCase()),
    ['thames', 'boat'],
  )
  t.ok(entities.every(({ entity }) => labels[entity.v] !== undefined))
  t.ok(entities.every(({ score }, n) => score <= (entities[n - 1]?.score ?? 1)))

  t.ok(triples.length > 50 && triples.length <= 1000, `${triples.length} triples`)
  const thames = entities[0]?.entity.v
  const isAboutThames = triples.map(({ s, o }) => s.v === thames || o.v === thames)
  t.ok(isAboutThames.slice(0, 10).every(Boolean), 'those about the nearest entity come first')
  const { wasDerivedFrom, subjectOf, hasPart, label } = vocabulary
  const books = [wasDerivedFrom, subjectOf, hasPart, label] as readonly string[]
  t.notOk(
    triples.some(({ p }) => books.includes(p.v)),
    'no bookkeeping',
  )

  t.equal(sources.length, 50)
  const passages = sources.map(({ start, end }) => book.slice(start, end))
  const best = passages.slice(0, 10)
  const count = (texts: readonly string[], what: RegExp) =>
    texts.filter((passage) => what.test(passage)).length
  // By chance it would be one of ten.
  const pages = [...Array(Math.floor(book.length / 2000)).keys()].map((n) =>
    book.slice(n * 2000, n * 2000 + 2000),
  )
  t.ok(count(pages, river) < pages.length / 8)
  t.ok(count(pages, rowing) < pages.length / 4)
  t.ok(river.test(best[0] ?? '') && rowing.test(best[0] ?? ''), 'the best does both')
  t.ok(count(best, river) >= 7, `${count(best, river)} of the best ten name the river`)
  t.ok(count(best, rowing) >= 6, `${count(best, rowing)} of the best ten speak of rowing`)
  for (const source of sources) {
    t.equal(source.core, id)
    t.strictSame(source.document, { v: id, e: true })
    const names = source.entities.map(({ v }) => labels[v] ?? v)
    const passage = book.slice(source.start, source.end).replace(/\s+/g, ' ').toLowerCase()
    t.ok(names.every((name) => passage.includes(name.toLowerCase())))
    t.equal(source.text, book.slice(source.start, source.end))
  }

  t.strictSame(await graph.retrieve(question), found, 'asked again, the same')
  t.strictSame(await knowledge.graph({ user, cores: [id] }).retrieve(question), found)
})
