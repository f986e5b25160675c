// What becomes of threads where a bundler has left their files behind: docs/bundlers.md. The compiled
// sources without these files stand for a bundle.

import { execFile } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

const root = process.cwd()
const workers = ['index-worker.js', 'sparql-worker.js', 'file-worker.js', 'reading-worker.js']

const program = `
import { MemoryBackend } from './adapters/memory.js'
import { createLorekeep } from './src/index.js'
import { createSparql } from './src/sparql/index.js'

const m = { i: 'c', m: [], u: 'u', c: 'default' }
const uri = (v) => ({ v, e: true })
const long = 'long '.repeat(40)
function* messages() {
  for (let from = 0; from < 60_000; from += 500) {
    const t = Array.from({ length: 500 }, (_, i) => (
      { s: uri('s' + (from + i)), p: uri('p'), o: { v: from + i + long, e: false } }
    ))
    yield ['t', { m, t }]
  }
}
const keep = await createLorekeep({ backend: new MemoryBackend() })
const told = { graphs: [] }
for (const user of ['u', 'v']) {
  await keep.knowledge.write({ user, id: 'c' }, messages(), { index: user === 'u' })
  const graph = keep.knowledge.graph({ user })
  told.graphs.push([await graph.count(), await graph.count({ s: uri('s7') })])
}
const graph = keep.knowledge.graph({ user: 'u' })
await createSparql().execute(graph, 'ASK { ?s ?p ?o }').catch(({ message }) => (told.sparql = message))
keep.flows.run()
const file = { id: 'a.md', bytes: Buffer.from('# A') }
for await (const { failure } of keep.flows.watch(await keep.flows.load('default', { ...file, name: 'a.md' }))) {
  if (failure === undefined) continue
  told.file = failure.message
  break
}
await keep.close()
console.log(JSON.stringify(told))
`

interface Told {
  readonly graphs: readonly (readonly [number, number])[]
  readonly sparql: string
  readonly file: string
}

t.test('indexes are made without a thread that is missing, and queries are refused', async (t) => {
  const { told, stderr } = await run(t)
  // Indexes are made all the same, and one line says what was missed.
  t.strictSame(told.graphs, [
    [60_000, 1],
    [60_000, 1],
  ])
  t.equal(stderr.match(/Warning: lorekeep .*index-worker\.js: docs\/bundlers\.md/g)?.length, 1)
  // A query is not answered without the bounds of a thread.
  t.match(told.sparql, /sparql-worker\.js: docs\/bundlers\.md$/)
  // Nor is a file read.
  t.match(told.file, /file-worker\.js: docs\/bundlers\.md$/)
})

t.test('a thread that fails after it was ready fails the index', async (t) => {
  const worker = `
import { parentPort } from 'node:worker_threads'
parentPort.on('message', ({ type }) => {
  if (type !== 'memory') throw new Error('it broke')
  parentPort.postMessage({ type, memory: new SharedArrayBuffer(16 * 1024 * 1024) })
})
parentPort.postMessage({ type: 'ready' })
`
  await t.rejects(run(t, worker), /Error: it broke/)
})

t.test('a file of that name that is another program is told, and done without', async (t) => {
  for (const worker of [
    // It says nothing, something else, and nothing at all before it ends.
    `import { parentPort } from 'node:worker_threads'\nparentPort.on('message', () => undefined)`,
    `import { parentPort } from 'node:worker_threads'\nparentPort.on('message', () => undefined)
     parentPort.postMessage('hello')`,
    'process.exit(0)',
    // It is ready, and fails at the first thing that it is asked.
    `import { parentPort } from 'node:worker_threads'
     parentPort.on('message', () => { throw new Error('it broke') })
     parentPort.postMessage({ type: 'ready' })`,
  ]) {
    const { told, stderr } = await run(t, worker)
    t.strictSame(told.graphs[0], [60_000, 1])
    t.equal(stderr.match(/Warning: lorekeep .*index-worker\.js: docs\/bundlers\.md/g)?.length, 1)
  }
})

t.test('what a bundle needs beside it can be named', async (t) => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, string>>
  }
  for (const worker of workers) {
    const file = exports[`./${basename(worker, '.js')}`] ?? ''
    t.equal(basename(file), worker)
    t.ok(readFileSync(join(root, file)).length > 0)
  }
})

async function run(t: Test, indexWorker?: string): Promise<{ told: Told; stderr: string }> {
  const directory = t.testdir({ 'package.json': '{ "type": "module" }', 'program.js': program })
  for (const folder of ['src', 'adapters']) {
    cpSync(join(root, 'dist', folder), join(directory, folder), {
      recursive: true,
      filter: (file) => !workers.includes(basename(file)),
    })
  }
  if (indexWorker !== undefined) {
    writeFileSync(join(directory, 'src/graph/index/index-worker.js'), indexWorker)
  }
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'), 'junction')
  const file = join(directory, 'program.js')
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file])
  return { told: JSON.parse(stdout) as Told, stderr }
}
