// A core stream of 1,000,000 triples over some 500,000 terms, until it is durable and indexed in
// LevelDB, against the stores of triples. Oxigraph and N3 read the same triples as N-Triples, into
// memory alone. Quadstore, the slowest, gets the first 100,000 of them as quads that are there
// already: its rate is compared, and falls with more.

import { Readable } from 'node:stream'
import { classes, GeneratedGraph, ref } from './graph-data.js'
import {
  loadN3,
  n3Name,
  OxigraphPeer,
  oxigraphName,
  parseQuads,
  QuadstorePeer,
  quadstoreName,
} from './graph-peers.js'
import { checkOurs, openOurs } from './graph-store.js'
import * as bench from './measure.js'
import type { Target } from './measure.js'
import { cut, sha256 } from './stream.js'

const rounds = 7
const triples = 1_000_000
const quadstoreTriples = 100_000

const graph = new GeneratedGraph(triples)
const core = Buffer.concat([...graph.chunks()])
const digest = sha256(core)
const chunks = cut(core, 128 * 1024)
const nTriples = graph.nTriples()
bench.note(
  `graph-import: ${triples} triples, ${core.length} bytes, ${nTriples.length} as N-Triples`,
)

const { ours, plain, oxigraph, lenient, n3, quadstore } = await bench.interleave(rounds, {
  ours: (round) => importOurs(true, round === -1 || round === rounds - 1),
  plain: () => importOurs(false, false),
  oxigraph: () => loadOxigraph({}),
  lenient: () => loadOxigraph({ lenient: true, no_transaction: true }),
  n3: loadIntoN3,
  quadstore: importQuadstore,
})
compare(quadstoreName, quadstore, { least: 20 })
compare(oxigraphName, oxigraph, { least: 5 })
compare(`${oxigraphName}, lenient, no_transaction`, lenient)
compare(n3Name, n3, { least: 8 })
compare('the same import, not indexed', plain)

function compare(peer: string, theirs: readonly number[], target?: Target): void {
  const names = { scenario: 'import 1,000,000 triples, indexed', peer }
  const operations = { count: triples, unit: 'triples/s' }
  bench.report(bench.compareOperations(names, operations, ours, theirs, target))
}

function importOurs(index: boolean, readBack: boolean): Promise<number> {
  return bench.inDirectory(async (directory) => {
    let keep = await openOurs(directory)
    try {
      const time = await bench.seconds(async () => {
        const summary = await keep.knowledge.import(ref, Readable.from(chunks), { index })
        bench.check(summary.digest === digest, 'the digest of the import')
      })
      const { state } = await keep.knowledge.indexState(ref)
      bench.check(state === (index ? 'complete' : 'none'), `the state of the index: ${state}`)
      if (readBack) {
        await keep.close()
        keep = await openOurs(directory)
        await checkOurs(keep, graph)
      }
      return time
    } finally {
      await keep.close()
    }
  })
}

async function loadOxigraph(options: Parameters<OxigraphPeer['load']>[1]): Promise<number> {
  using store = new OxigraphPeer()
  const time = await bench.seconds(() => store.load(nTriples, options))
  bench.check(store.size === triples, 'the triples in oxigraph')
  return time
}

async function loadIntoN3(): Promise<number> {
  let size = 0
  const time = await bench.seconds(() => {
    size = loadN3(nTriples).size
  })
  bench.check(size === triples, 'the triples in N3')
  return time
}

function importQuadstore(): Promise<number> {
  // Made anew, as half a million objects that stay would cost each collection of the others' garbage.
  const quads = parseQuads(graph.nTriples(quadstoreTriples))
  return bench.inDirectory(async (directory) => {
    await using store = await QuadstorePeer.open(directory)
    const time = await bench.seconds(() => store.import(quads))
    const [o] = classes
    const found = await store.match({ ...(o && { o }) })
    const wanted = quads.filter(({ object }) => object.value === o?.v)
    bench.check(found.length === wanted.length, 'the triples in quadstore')
    return time * (triples / quadstoreTriples)
  })
}
