// A million products in batches of 1,000: whether imports keep their rate and memory its bounds.
// The products are made batch by batch, outside of the time.

import { readFileSync } from 'node:fs'
import type { Lorekeep } from '../src/index.js'
import { Random } from '../test/fixtures/random.js'
import { check, compareOperations, MiB, note, report, seconds } from './measure.js'
import {
  batchSize,
  checkProduct,
  collection,
  createBatch,
  idOf,
  importOf,
  priceCount,
  schema,
} from './objects-data.js'
import { withOurs } from './objects-store.js'

const count = 1_000_000
const part = 100_000

await withOurs(async (keep) => {
  note('objects-million')
  const { parts, highestRss } = await importParts(keep)
  await query(keep)
  const first = parts[0] as Part
  const last = parts.at(-1) as Part
  const names = { scenario: 'import of 1,000,000 objects, the last 100,000', peer: 'the first' }
  const times = { count: part, unit: 'objects/s' }
  report(compareOperations(names, times, [last.time], [first.time], { least: 0.7 }))
  // No peer runs beside the two: where the machine is shared, this tells its doing from ours.
  const inCpu = { ...names, scenario: `${names.scenario}, in time of CPU` }
  report(compareOperations(inCpu, times, [last.cpu], [first.cpu]))
  const peak = status('VmHWM')
  for (const [scenario, value] of [
    ['highest RSS, import of 1,000,000 objects', highestRss],
    ['VmHWM, import of 1,000,000 objects, range query, gets', peak],
  ] as const) {
    report({
      scenario,
      peer: '',
      ours: `anon ${status('RssAnon')}, file ${status('RssFile')} MiB at the end`,
      theirs: '',
      ...{ value, low: value, high: value, unit: 'MiB' },
      target: { most: 400 },
    })
  }
})

/** What the imports of a part took, in seconds: in all, and of the CPU, all threads together. */
interface Part {
  readonly time: number
  readonly cpu: number
}

async function importParts(keep: Lorekeep): Promise<{ parts: Part[]; highestRss: number }> {
  const parts: Part[] = []
  let highestRss = 0
  for (let from = 0; from < count; from += part) {
    let time = 0
    let cpu = 0
    for (let at = from; at < from + part; at += batchSize) {
      const request = importOf(createBatch(at, at + batchSize), at)
      const usedBefore = process.cpuUsage()
      const start = process.hrtime.bigint()
      const { imported } = await keep.objects.import(request)
      time += Number(process.hrtime.bigint() - start) / 1e9
      const used = process.cpuUsage(usedBefore)
      cpu += (used.user + used.system) / 1e6
      check(imported === batchSize, 'how many were imported')
      highestRss = Math.max(highestRss, process.memoryUsage.rss() / MiB)
    }
    parts.push({ time, cpu })
    const rss = Math.round(process.memoryUsage.rss() / MiB)
    const rate = `${Math.round(part / time)} objects/s, ${Math.round(part / cpu)} by CPU`
    note(`  ${from + part}: ${rate}, RSS ${rss} MiB`)
  }
  return { parts, highestRss }
}

async function query(keep: Lorekeep): Promise<void> {
  const filters = { price: { $gte: 500, $lt: 510 } }
  const range = await seconds(async () => {
    const page = await keep.objects.query({ schema_name: schema.name, filters, limit: 100 })
    check(page.total === (1000 * count) / priceCount, `the total of the range: ${page.total}`)
    check(page.objects.length === 100, 'the page of the range')
    for (const object of page.objects) checkProduct(object, object['_id'])
  })
  const random = new Random(1)
  const gets = await seconds(async () => {
    for (let n = 0; n < 1000; n++) {
      const id = idOf(random.below(count))
      checkProduct(await keep.objects.get(collection, id), id)
    }
  })
  note(`  a range query ${(range * 1000).toFixed(1)} ms, a get ${gets.toFixed(3)} ms, both cold`)
}

/** A field of this process's status in Linux, in MiB. */
function status(name: string): number {
  const text = readFileSync('/proc/self/status', 'latin1')
  return Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024)
}
