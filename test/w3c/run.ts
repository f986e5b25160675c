// W3C_TESTS=/path/to/rdf-tests npm run w3c [-- GROUP or TEST …]: the W3C's suites of RDF 1.1 and
// SPARQL, from a clone of https://github.com/w3c/rdf-tests. A test that fails and is not known to, or
// that is known to and does not, fails the run.

import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { createSparql } from '../../src/sparql/index.js'
import { known } from './known.js'
import { Suites, type SuiteTest } from './manifest.js'
import { rdfManifests, rdfTest } from './rdf-suites.js'
import { sparqlManifests, sparqlTest } from './sparql-suites.js'

const folder = process.env.W3C_TESTS
if (folder === undefined) {
  console.error('W3C_TESTS names no folder: clone https://github.com/w3c/rdf-tests and name it')
  process.exit(2)
}

const wanted = process.argv.slice(2)
const suites = new Suites(folder)
const engine = createSparql()
const keep = await createLorekeep({ backend: new MemoryBackend() })

interface Count {
  run: number
  passed: number
  known: number
}
const groups = new Map<string, Count>()
const wrong: string[] = []

for (const path of rdfManifests) await runAll(path, (test) => rdfTest(suites, keep, test))
for (const path of sparqlManifests) await runAll(path, (test) => sparqlTest(suites, engine, test))

console.table(Object.fromEntries(groups))
const all = [...groups.values()]
const sum = (count: (each: Count) => number) => all.reduce((total, each) => total + count(each), 0)
console.log(`${sum(({ run }) => run)} run, ${sum(({ passed }) => passed)} passed`)
console.log(`${sum(({ known }) => known)} known to fail, ${wrong.length} not as known`)
if (wrong.length > 0) {
  console.log(wrong.join('\n'))
  process.exitCode = 1
}
await keep.close()

async function runAll(path: string, run: (test: SuiteTest) => Promise<void>): Promise<void> {
  for (const test of await suites.tests(path)) {
    const name = `${test.group}#${test.name}`
    if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue
    const count = groups.get(test.group) ?? { run: 0, passed: 0, known: 0 }
    groups.set(test.group, count)
    count.run++
    const failure = await run(test).then(() => undefined, reasonOf)
    const reason = known.get(name)
    if (failure === undefined) count.passed++
    else if (reason !== undefined) count.known++
    if (failure === undefined && reason !== undefined) wrong.push(`${name} passes: ${reason}`)
    if (failure === undefined) continue
    console.log(`${name}: ${reason === undefined ? failure : `known: ${reason}`}`)
    if (reason === undefined) wrong.push(name)
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
