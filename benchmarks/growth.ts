// How cost grows with size: what one operation takes where there are a thousand of a thing, ten thousand, and so on, in
// one store of LevelDB that goes on growing. Where a cost does not follow the size, its line is flat.
//
//   GROWTH=objects,jobs MOST=1e7 node dist/benchmarks/growth.js

import { setTimeout as sleep } from 'node:timers/promises'
import { createLorekeep, type Lorekeep } from '../src/index.js'
import { LevelBackend } from '../adapters/level/index.js'
import { encodeMessage } from '../src/codec/encoder.js'
import { Random } from '../test/fixtures/random.js'
import { createDocument, inFlight } from './flows-data.js'
import { defineFlow, flow, processOurs } from './flows-store.js'
import { GeneratedGraph, ref } from './graph-data.js'
import { collect } from './graph-store.js'
import * as bench from './measure.js'
import * as objects from './objects-data.js'
import * as passages from './passages-data.js'

/** Each is measured so often; the median counts. */
const times = 7
const pageOf = 100

interface Cost {
  readonly cost: string
  /** What it needs each time, and is not measured. */
  readonly prepare?: (keep: Lorekeep) => Promise<unknown>
  /** What is measured, once or several times: gives how often. It is told what one takes. */
  readonly work: (keep: Lorekeep, size: number) => Promise<number>
}

interface Growing {
  readonly growth: string
  readonly most: number
  /** What there is in a store of `size` and not yet in one of `from`. */
  readonly fill: (keep: Lorekeep, from: number, size: number) => Promise<void>
  /** What tells that the store is whole once it is open, beside opening it. */
  readonly look: (keep: Lorekeep, size: number) => Promise<unknown>
  readonly costs: readonly Cost[]
}

const random = new Random(7)

/** So many calls, one after the other. */
async function each(count: number, work: (n: number) => Promise<unknown>): Promise<number> {
  for (let n = 0; n < count; n++) await work(n)
  return count
}

// Cores of ten triples

const user = 'growth'
const coreId = (n: number) => `urn:core:${String(n).padStart(8, '0')}`
const subjectOf = (n: number) => ({ v: `urn:subject:${n}`, e: true })

function coreOf(n: number): Uint8Array {
  const t = Array.from({ length: 10 }, (_, k) => ({
    s: subjectOf(n),
    p: { v: `urn:predicate:${k}`, e: true },
    o: { v: `what is said of ${n} in place ${k}`, e: false },
  }))
  return encodeMessage(['t', { m: { i: coreId(n), m: [], u: user, c: 'default' }, t }])
}

const importCore = ({ knowledge }: Lorekeep, n: number) =>
  knowledge.import({ user, id: coreId(n) }, coreOf(n))

let spare = 0

const cores: Growing = {
  growth: 'cores',
  most: 100_000,
  fill: async (keep, from, size) => {
    const numbers = Array.from({ length: size - from }, (_, n) => from + n)
    await inFlight(numbers, 64, (n) => importCore(keep, n))
    await keep.knowledge.index({ user })
  },
  look: ({ knowledge }, size) => knowledge.stat({ user, id: coreId(size - 1) }),
  costs: [
    {
      cost: 'match what is said of one subject',
      work: ({ knowledge }, size) =>
        each(100, async () => {
          const found = await collect(
            knowledge.graph({ user }).match({ s: subjectOf(random.below(size)) }),
          )
          bench.check(found.length === 10, 'what is said of a subject')
        }),
    },
    {
      cost: `list ${pageOf} from the middle`,
      work: ({ knowledge }, size) => {
        const prefix = coreId(size >> 1).slice(0, -2)
        return each(10, async () => {
          const { cores } = await knowledge.corePage({ user, prefix, limit: pageOf })
          bench.check(cores.length === pageOf, 'the cores of a page')
        })
      },
    },
    {
      cost: 'import one more',
      work: ({ knowledge }) =>
        each(20, () => {
          const id = `urn:spare:${spare++}`
          return knowledge.import({ user, id }, coreOf(spare % 1000))
        }),
    },
  ],
}

// Triples of one core

const ofGraph = { user: ref.user, cores: [ref.id] }
let graph = new GeneratedGraph(1000)

const triples: Growing = {
  growth: 'triples',
  most: 10_000_000,
  fill: async ({ knowledge }, _, size) => {
    graph = new GeneratedGraph(size)
    await knowledge.import(ref, graph.chunks(), { index: true, mode: 'replace' })
  },
  look: ({ knowledge }) => collect(knowledge.graph(ofGraph).match({ s: graph.entity(0) })),
  costs: [
    {
      cost: 'match by subject',
      work: ({ knowledge }) =>
        each(100, async () => {
          const s = graph.entity(random.below(graph.entities))
          const found = await collect(knowledge.graph(ofGraph).match({ s }))
          bench.check(found.length === 10, 'the triples of an entity')
        }),
    },
    {
      cost: 'count all of them',
      work: ({ knowledge }, size) =>
        each(10, async () => {
          bench.check((await knowledge.graph(ofGraph).count({})) === size, 'how many triples')
        }),
    },
    {
      cost: 'ten of them by predicate and object',
      work: ({ knowledge }) =>
        each(50, async () => {
          const { p, o } = graph.statement(random.below(graph.entities), 0)
          const found = await collect(knowledge.graph(ofGraph).match({ p, o }, { limit: 10 }))
          bench.check(found.length > 0 && found.length <= 10, 'those of a class')
        }),
    },
  ],
}

// Objects with two indexes

const withTotal = 1000

const products: Growing = {
  growth: 'objects',
  most: 10_000_000,
  fill: async (keep, from, size) => {
    if (from === 0) await keep.objects.defineSchema(objects.schema)
    for (let at = from; at < size; at += objects.batchSize) {
      await keep.objects.import(
        objects.importOf(objects.createBatch(at, at + objects.batchSize), at),
      )
    }
  },
  look: async (keep, size) => {
    const { total } = await keep.objects.query({ schema_name: objects.schema.name, limit: 0 })
    bench.check(total >= size, 'how many objects')
  },
  costs: [
    {
      cost: 'get by id',
      work: (keep, size) =>
        each(500, async () => {
          const id = objects.idOf(random.below(size))
          objects.checkProduct(await keep.objects.get(objects.collection, id), id)
        }),
    },
    {
      cost: `a page of ${pageOf} of ${withTotal} found, and their total`,
      work: (keep, size) =>
        each(50, async () => {
          // All prices come as often as each other: so many cents of them have the total.
          const cents = (objects.priceCount * withTotal) / size
          const low = random.below(objects.priceCount - cents + 1)
          const filters = { price: { $gte: low / 100, $lt: (low + cents) / 100 } }
          const page = await keep.objects.query({
            schema_name: objects.schema.name,
            filters,
            limit: pageOf,
          })
          bench.check(page.objects.length === pageOf, 'a page')
          const isAbout = Math.abs(page.total / withTotal - 1) < 0.25
          bench.check(isAbout, `how many are found: ${page.total}`)
        }),
    },
    {
      // Few, as they are there from then on.
      cost: 'import 100 more',
      work: (keep) =>
        each(1, () => {
          const at = 1000 * objects.priceCount + 100 * spare++
          return keep.objects.import(objects.importOf(objects.createBatch(at, at + 100), at))
        }),
    },
  ],
}

// Jobs that wait

const textBytes = 200
const claimed = 500
let loaded = 0
const nextDocument = () => createDocument(loaded++, { textBytes, users: 1000 })

function* documents(count: number) {
  for (let n = 0; n < count; n++) yield nextDocument()
}

const jobs: Growing = {
  growth: 'jobs that wait, of 1,000 users',
  most: 1_000_000,
  fill: async ({ flows }, from, size) => {
    if (from === 0) await defineFlow(flows, 100)
    await inFlight(documents(size - from), 1000, (document) => flows.load(flow, document))
  },
  look: async ({ flows }) => {
    await defineFlow(flows, 100)
    return flows.stats(flow)
  },
  costs: [
    {
      cost: 'load one more',
      work: ({ flows }) => each(50, () => flows.load(flow, nextDocument())),
    },
    {
      cost: `claim to completion, each of ${claimed}`,
      prepare: ({ flows }) => inFlight(documents(claimed), 200, (one) => flows.load(flow, one)),
      work: async ({ flows }) => {
        const counted = await defineFlow(flows, 100)
        await processOurs(flows, counted, claimed)
        return claimed
      },
    },
  ],
}

// Passages of some 100 words

const documentsOfCore = 50

const texts: Growing = {
  growth: 'passages',
  most: 1_000_000,
  fill: async ({ knowledge }, from, size) => {
    const end = passages.documentsOf(size)
    for (let first = passages.documentsOf(from); first < end; first += documentsOfCore) {
      const id = String(first)
      const count = Math.min(documentsOfCore, end - first)
      const chunks = function* () {
        for (let n = 0; n < count; n++) yield passages.streamOf(first + n, id)
      }
      await knowledge.import({ user: passages.user, id }, chunks(), { index: true })
    }
    await knowledge.index({ user: passages.user })
  },
  look: ({ knowledge }, size) =>
    knowledge.graph({ user: passages.user }).search({ text: passages.questionOf(0, size), k: 10 }),
  costs: [
    {
      cost: 'search for two to six words',
      work: ({ knowledge }, size) =>
        each(30, async (n) => {
          const text = passages.questionOf(n + 1, size)
          const found = await knowledge.graph({ user: passages.user }).search({ text, k: 10 })
          bench.check(found.length > 0, `something is found for '${text}'`)
        }),
    },
  ],
}

const all = [cores, triples, products, jobs, texts]
const asked = process.env['GROWTH']?.split(',')
const most = Number(process.env['MOST'] ?? Infinity)

for (const growing of all) {
  if (asked !== undefined && !asked.some((name) => growing.growth.startsWith(name))) continue
  await measure(growing)
}

async function measure({ growth, most: usual, fill, look, costs }: Growing): Promise<void> {
  bench.note(growth)
  await bench.inDirectory(async (directory) => {
    const open = () => createLorekeep({ backend: new LevelBackend(directory) })
    let from = 0
    for (let size = 1000; size <= (most === Infinity ? usual : most); size *= 10) {
      const begun = performance.now()
      const filling = await open()
      await fill(filling, from, size)
      await filling.close()
      bench.note(`  ${size} in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
      from = size
      await opening(growth, size, open, (keep) => look(keep, size))
      const keep = await open()
      await look(keep, size)
      for (const { cost, prepare, work } of costs) {
        const found: number[] = []
        for (let n = -1; n < times; n++) {
          await prepare?.(keep)
          globalThis.gc?.()
          const start = performance.now()
          const count = await work(keep, size)
          if (n >= 0) found.push((performance.now() - start) / count)
        }
        tell(growth, cost, size, 1000 * bench.median(found), 'us')
      }
      await keep.close()
    }
  })
}

/** From nothing to an answer, in this process, whose code is warm. */
async function opening(
  growth: string,
  size: number,
  open: () => Promise<Lorekeep>,
  look: (keep: Lorekeep) => Promise<unknown>,
): Promise<void> {
  const found: number[] = []
  for (let n = -1; n < times; n++) {
    globalThis.gc?.()
    const start = performance.now()
    const keep = await open()
    await look(keep)
    if (n >= 0) found.push(performance.now() - start)
    await keep.close()
    await sleep(10)
  }
  tell(growth, 'open the store, and its first answer', size, bench.median(found), 'ms')
}

function tell(growth: string, cost: string, size: number, value: number, unit: 'ms' | 'us'): void {
  bench.note(`    ${cost}: ${value.toPrecision(3)} ${unit}`)
  bench.reportPoint({ growth, cost, size, value, unit })
}
