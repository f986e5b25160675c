// Names of one thing, from a document to an answer and back.

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { createLorekeep, type Graph, type Lorekeep } from '../../../src/index.js'
import { vocabulary } from '../../../src/vocabulary.js'

const user = 'alice'
const base = 'http://trustgraph.ai/e/'
const entity = (name: string) => ({ v: `${base}${name}`, e: true })

const introduction = {
  user,
  id: 'urn:introduction',
  title: 'Health',
  content: 'The World Health Organization (WHO) was founded in Geneva. The WHO fights malaria.',
}
const other = {
  user,
  id: 'urn:other',
  title: 'Measles',
  content: 'In Africa the World Health Organization has a campaign against measles.',
}

async function opened(t: Test): Promise<Lorekeep> {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  keep.flows.run()
  return keep
}

async function load(keep: Lorekeep, ...documents: (typeof other)[]): Promise<void> {
  for (const document of documents) {
    const { job } = await keep.flows.load('default', document)
    while ((await keep.flows.job(job))?.state !== 'done') await sleep(5)
  }
}

async function namesOf(graph: Graph, name: string): Promise<string[]> {
  const names: string[] = []
  for (const v of [vocabulary.label, vocabulary.altLabel]) {
    for await (const { o } of graph.match({ s: entity(name), p: { v, e: true } })) names.push(o.v)
  }
  return names
}

t.test('an acronym in a question finds what only has the words that it stands for', async (t) => {
  const keep = await opened(t)
  const noise = Array.from({ length: 8 }, (_, n) => ({
    ...other,
    id: `urn:noise-${n}`,
    title: `Noise ${n}`,
    content: `In Asia the committee number ${n} has a campaign for the arts.`,
  }))
  await load(keep, other, ...noise)
  const graph = keep.knowledge.graph({ user })
  const found = async () => {
    const { sources } = await graph.retrieve({ text: 'Which committee for the arts is of WHO?' })
    return sources.map(({ document }) => document?.v)
  }
  t.notOk((await found()).includes(other.id))
  await load(keep, introduction)
  t.strictSame(await namesOf(graph, 'world-health-organization'), [
    'World Health Organization',
    'WHO',
  ])
  t.strictSame(await namesOf(graph, 'who'), [])
  const now = await found()
  t.ok(now.includes(introduction.id))
  t.ok(now.includes(other.id))
  await keep.flows.removeDocument({ user, document: introduction.id })
  t.strictSame(await namesOf(graph, 'world-health-organization'), ['World Health Organization'])
  t.notOk((await found()).includes(other.id), 'the name went with the document')
})

t.test('a document that is replaced takes the names of the one before with it', async (t) => {
  const keep = await opened(t)
  await load(keep, introduction)
  await load(keep, { ...introduction, content: 'Geneva is a city on a lake.' })
  const graph = keep.knowledge.graph({ user })
  t.strictSame(await namesOf(graph, 'world-health-organization'), [])
  t.equal(await graph.count({ p: { v: vocabulary.specializationOf, e: true } }), 0)
})

t.test('what a user splits no flow makes one again, unless it is merged', async (t) => {
  const keep = await opened(t)
  const treaty = {
    user,
    id: 'urn:treaty',
    title: 'Alliances',
    content: 'The European Space Agency (ESA) is in Paris. France pays for ESA.',
  }
  const [agency, acronym] = ['european-space-agency', 'esa']
  await load(keep, treaty)
  const graph = keep.knowledge.graph({ user })
  t.strictSame(await namesOf(graph, agency), ['European Space Agency', 'ESA'])
  await graph.split(entity(agency), entity(acronym))
  await load(keep, treaty)
  t.strictSame(await namesOf(graph, agency), ['European Space Agency'])
  t.strictSame(await namesOf(graph, acronym), ['ESA'])
  t.strictSame(await graph.duplicates(), [])
  await load(keep, { ...treaty, user: 'bob' })
  const ofBob = keep.knowledge.graph({ user: 'bob' })
  t.strictSame(await namesOf(ofBob, acronym), [], 'others have not split it')
  await graph.merge(entity(agency), entity(acronym))
  await load(keep, treaty)
  t.strictSame(await namesOf(graph, acronym), [], 'joined in the document again')
  t.strictSame(await namesOf(graph, agency), ['European Space Agency', 'ESA'])
})

t.test('the same document has the same core, however often it is loaded', async (t) => {
  const keep = await opened(t)
  await load(keep, introduction)
  const before = await keep.knowledge.stat({ user, id: introduction.id })
  await load(keep, other, introduction)
  t.equal((await keep.knowledge.stat({ user, id: introduction.id }))?.digest, before?.digest)
})
