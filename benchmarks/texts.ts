// Short texts through the default flow: how many a second until all of them are done and durable, the first
// question of a new process, what questions take, and how much lies on the disk. The passages are those
// of HotpotQA's sample; without it there is nothing to measure.

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { LevelBackend } from '../adapters/level/index.js'
import { layoutOf } from '../src/graph/index/layout.js'
import { libraryKey, type LibraryRecord } from '../src/knowledge/records.js'
import { decodeRecord } from '../src/record.js'
import { openOurs } from './graph-store.js'
import * as bench from './measure.js'
import type { ColdTextAnswer } from './texts-cold-child.js'
import { data } from './retrieval-data.js'

const wanted = Number(process.env['TEXTS'] ?? 5000)
const user = 'texts'
const rounds = Number(process.env['ROUNDS'] ?? 5)

if (existsSync(data.passages)) await bench.inDirectory(measure)
else bench.report({ scenario: 'texts', peer: '', skipped: 'the passages are not here' })

/** Those that there are, again and again under other names. */
function texts(): string[] {
  const byTitle = JSON.parse(readFileSync(data.passages, 'utf8')) as Record<string, string[]>
  const passages = Object.values(byTitle).map((sentences) => sentences.join(''))
  return Array.from({ length: wanted }, (_, n) => passages[n % passages.length] as string)
}

async function measure(directory: string): Promise<void> {
  const all = texts()
  const bytes = all.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  await load(directory, all)
  await sleep(3000)
  const times = (await bench.bytesIn(directory)) / bytes
  bench.reportOne(`store of ${wanted} texts, times their bytes`, times, 'x', { most: 25 })
  await ask(directory, 'right behind the load')
  await rest(directory)
  const words = (await bytesOfWords(directory)) / bytes
  bench.reportOne('words and names, times the text', words, 'x', { most: 3 })
  await ask(directory, 'when all is merged')
}

/** Of each kind in new processes, which are disturbed as others are: medians of some. */
async function ask(directory: string, when: string): Promise<void> {
  for (const [kind, p50, p95] of [
    ['retrieve', 20, 60],
    ['search', 3, undefined],
  ] as const) {
    const answers: ColdTextAnswer[] = []
    for (let round = 0; round < rounds; round++) answers.push(await answerOf(directory, kind))
    const figure = (what: string, of: (answer: ColdTextAnswer) => number, most?: number) => {
      const all = answers.map(of)
      const line = {
        scenario: `texts, ${when}: ${what}`,
        peer: '',
        theirs: '',
        unit: 'ms' as const,
      }
      const ours = `${bench.median(all).toFixed(1)} ms`
      const target = most === undefined ? {} : { target: { most } }
      bench.report({ ...line, ours, ...bench.spread(all), ...target })
    }
    figure(`opening, before ${kind}`, ({ openMs }) => openMs)
    figure(`first ${kind} of a new process`, ({ firstMs }) => firstMs, 50)
    figure(`${kind} p50`, (answer) => answer.p50, p50)
    figure(`${kind} p95`, (answer) => answer.p95, p95)
    const rss = Math.max(...answers.map((answer) => answer.rss)) / bench.MiB
    bench.reportOne(`texts, ${when}: RSS of ${kind} above idle`, rss, 'MiB', { most: 250 })
  }
}

async function answerOf(directory: string, kind: string): Promise<ColdTextAnswer> {
  const child = fileURLToPath(new URL('./texts-cold-child.js', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [child, directory, user, kind])
  return JSON.parse(stdout) as ColdTextAnswer
}

/** What words and names take, with what tells of passages: in parts of their own. */
async function bytesOfWords(directory: string): Promise<number> {
  await using backend = new LevelBackend(directory)
  const cores = await backend.open('cores')
  const record = decodeRecord<LibraryRecord>((await cores.get(libraryKey(user))) as Uint8Array)
  const parts = record.parts.filter(({ passages }) => passages !== undefined)
  return parts.reduce((sum, part) => sum + layoutOf(part).end, 0)
}

/** Until what is merged when nothing comes has been. */
async function rest(directory: string): Promise<void> {
  await using keep = await openOurs(directory)
  for (let last = -1, parts = 0; last !== parts;) {
    last = parts
    await sleep(2500)
    ;({ parts } = await keep.knowledge.indexState({ user }))
  }
  bench.note(`parts: ${(await keep.knowledge.indexState({ user })).parts}`)
}

async function load(directory: string, all: readonly string[]): Promise<void> {
  await using keep = await openOurs(directory)
  const { flows, knowledge } = keep
  flows.run()
  const start = performance.now()
  let next = 0
  const loader = async () => {
    while (next < all.length) {
      const n = next++
      await flows.load('default', { user, id: `urn:text:${n}`, content: all[n] as string })
    }
  }
  await Promise.all(Array.from({ length: 16 }, loader))
  for (;;) {
    const { queued, active, delayed, done, dead } = await flows.stats('default')
    bench.check(dead === 0, `${dead} dead letters`)
    if (queued + active + delayed === 0 && done === all.length) break
    await sleep(20)
  }
  const rate = (1000 * all.length) / (performance.now() - start)
  bench.reportOne('texts a second, done and durable', rate, 'x', { least: 200 })
  // Until nothing waits in the background.
  for (let state = await knowledge.indexState({ user }); state.waiting.segments > 0;) {
    await sleep(200)
    state = await knowledge.indexState({ user })
  }
}
