// One version of a graph, whatever is written meanwhile.

import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import { createSparql, type SparqlGraph } from '../../src/sparql/index.js'
import type { Graph } from '../../src/graph/types.js'
import { keysOf } from '../fixtures/stores.js'
import { messageOf } from './asked.js'

t.setTimeout(120_000)

const user = 'u'
const settled = async () => {
  for (let n = 0; n < 100; n++) await turn()
}
const node = (name: string) => ({ v: `urn:${name}`, e: true })
const triples = (subject: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    s: node(subject),
    p: node('p'),
    o: { v: String(n), e: false },
  }))

async function opened(t: Test): Promise<Lorekeep> {
  const keep = await createLorekeep({ backend: new LevelBackend(t.testdir()) })
  t.teardown(() => keep.close())
  return keep
}

const write = (keep: Lorekeep, id: string, subject: string, count: number, mode?: 'replace') =>
  keep.knowledge.write({ user, id }, [messageOf(triples(subject, count))], mode && { mode })

const subjects = async (graph: Graph) => {
  const found = new Map<string, number>()
  for await (const { s } of graph.match()) found.set(s.v, (found.get(s.v) ?? 0) + 1)
  return Object.fromEntries(found)
}

t.test('a snapshot stays as it was, and the graph goes on', async (t) => {
  const keep = await opened(t)
  await write(keep, 'a', 'a', 300)
  await write(keep, 'b', 'b', 200)
  const graph = keep.knowledge.graph({ user })
  const snapshot = await graph.snapshot()
  const begun = snapshot.match()[Symbol.asyncIterator]()
  await begun.next()

  await write(keep, 'c', 'c', 100)
  await write(keep, 'a', 'x', 50, 'replace')
  await keep.knowledge.delete({ user, id: 'b' })
  t.strictSame(await subjects(graph), { 'urn:x': 50, 'urn:c': 100 })
  t.strictSame(await subjects(snapshot), { 'urn:a': 300, 'urn:b': 200 })
  t.equal(await snapshot.count(), 500)
  t.strictSame(await subjects(await snapshot.snapshot()), { 'urn:a': 300, 'urn:b': 200 })

  snapshot.close()
  snapshot.close()
  const code = 'LK_GRAPH_QUERY'
  await t.rejects(snapshot.count(), { code, message: /the snapshot was closed/ })
  await t.rejects(subjects(snapshot), { code })
  await t.rejects(snapshot.snapshot(), { code })
  let rest = 1
  while ((await begun.next()).done !== true) rest++
  t.equal(rest, 500, 'what was begun goes on to its end')
  t.equal(await graph.count(), 150)
})

t.test('a deleted core stays in the storage while a snapshot holds it', async (t) => {
  const backend = new MemoryBackend()
  const keep = await createLorekeep({ backend })
  await write(keep, 'a', 'a', 1000)
  await keep.knowledge.index({ user })
  const snapshot = await keep.knowledge.graph({ user }).snapshot()
  const begun = snapshot.match()[Symbol.asyncIterator]()
  await begun.next()
  await keep.knowledge.delete({ user, id: 'a' })
  await keep.knowledge.index({ user })
  await settled()
  t.equal(await snapshot.count(), 1000)
  snapshot.close()
  await settled()
  t.ok((await keysOf(backend)).slices.length > 0, 'one still reads it')
  await begun.return?.()
  while ((await keysOf(backend)).slices.length > 0) await settled()
  await keep.close()
  await t.rejects(keep.knowledge.graph({ user }).snapshot(), { code: 'LK_CLOSED' })
})

t.test('a snapshot that nobody has any more is closed', async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const backend = new MemoryBackend()
  const keep = await createLorekeep({ backend })
  t.teardown(() => keep.close())
  await write(keep, 'a', 'a', 1000)
  await keep.knowledge.index({ user })
  await (async () => {
    const snapshot = await keep.knowledge.graph({ user }).snapshot()
    await snapshot.count()
  })()
  await keep.knowledge.delete({ user, id: 'a' })
  await keep.knowledge.index({ user })
  while ((await keysOf(backend)).slices.length > 0) {
    collectGarbage()
    await turn()
  }
  t.pass()
})

t.test('closing the store closes a snapshot that nobody asks', async (t) => {
  const keep = await opened(t)
  await write(keep, 'a', 'a', 10)
  const snapshot = await keep.knowledge.graph({ user }).snapshot()
  const before = performance.now()
  await keep.close()
  t.ok(performance.now() - before < 5000, 'without waiting for it')
  await t.rejects(snapshot.count(), { code: 'LK_CLOSED' })
})

t.test('closing the store closes a snapshot that was not open yet', async (t) => {
  const keep = await opened(t)
  await write(keep, 'a', 'a', 10)
  const graph = keep.knowledge.graph({ user })
  t.equal(await graph.count(), 10)
  const opening = graph.snapshot()
  await keep.close()
  await t.rejects((await opening).count(), { code: 'LK_CLOSED' })
})

t.test('an aborted snapshot is none', async (t) => {
  const keep = await opened(t)
  await write(keep, 'a', 'a', 10)
  const signal = AbortSignal.abort(new Error('enough'))
  await t.rejects(keep.knowledge.graph({ user }).snapshot({ signal }), { message: 'enough' })
})

const query = `SELECT ?a ?b { ?a <urn:p> "0" . ?b <urn:p> "1" FILTER (STR(?a) = STR(?b)) }`

t.test('a query of SPARQL sees one version from its first pattern to its last', async (t) => {
  const keep = await opened(t)
  const graph = keep.knowledge.graph({ user })
  let written = 0
  // One after the other: two patterns may be asked at once, and of two writes at once either may be the last.
  let writing: Promise<unknown> = Promise.resolve()
  const replace = () =>
    (writing = writing.then(() => write(keep, 'a', `s${written++}`, 2, 'replace')))
  await replace()
  // Another version is the newest one before each pattern is read.
  const restless: SparqlGraph = {
    async snapshot(options) {
      const snapshot = await graph.snapshot(options)
      const match: Graph['match'] = async function* (pattern, asked) {
        await replace()
        yield* snapshot.match(pattern, asked)
      }
      return {
        match,
        count: (pattern, asked) => snapshot.count(pattern, asked),
        graphs: (asked) => snapshot.graphs(asked),
        close: () => snapshot.close(),
      }
    },
  }
  const sparql = createSparql({ threads: 1 })
  for (let round = 0; round < 3; round++) {
    let version = `urn:s${written - 1}`
    const answer = await sparql.execute(restless, query, { accept: 'text/csv' })
    if (answer.type !== 'answer') throw new Error(answer.type)
    const chunks: Uint8Array[] = []
    for await (const chunk of answer.body) chunks.push(chunk)
    t.equal(Buffer.concat(chunks).toString(), `a,b\r\n${version},${version}\r\n`)

    version = `urn:s${written - 1}`
    const result = await sparql.query(restless, query)
    if (result.type !== 'bindings') throw new Error(result.type)
    const rows: string[] = []
    for await (const { a, b } of result.bindings) rows.push(`${a?.value} ${b?.value}`)
    t.strictSame(rows, [`${version} ${version}`])
  }
  t.ok(written > 12, `${written} versions`)
})
