// How soon `lorekeep mcp` answers, from the start of its process on, as it is packed: `initialize`, the list of tools,
// and the first search, in 10,000 passages that a flow made of 100 words each.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Lorekeep } from '../src/index.js'
import { vocabulary } from '../src/vocabulary.js'
import { openOurs } from './graph-store.js'
import * as bench from './measure.js'
import { questionOf, textOf, user } from './passages-data.js'

const passages = 10_000
const textsOfDocument = 20
const documentsAtOnce = 100
const rounds = Number(process.env['ROUNDS'] ?? 7)

const questions = [
  {
    name: 'initialize',
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    },
  },
  { name: 'the list of tools', method: 'tools/list', params: {} },
  {
    name: 'the first search',
    method: 'tools/call',
    params: { name: 'search', arguments: { text: questionOf(1, passages) } },
  },
]
/** Of the last one, in ms. */
const target = { most: 500 }

interface Answered {
  readonly wallMs: number
  /** Of all threads; undefined where the system has no /proc. */
  readonly cpuMs: number | undefined
}

execFileSync(process.execPath, ['scripts/package.js', 'dist/package'], { stdio: 'inherit' })
await bench.inDirectory(async (directory) => {
  await fill(directory)
  const runs: Answered[][] = []
  for (let round = -1; round < rounds; round++) {
    const answers = await start(directory)
    if (round >= 0) runs.push(answers)
  }
  for (const [at, { name }] of questions.entries()) {
    const answers = runs.map((run) => run[at] as Answered)
    const scenario = `lorekeep mcp, ${name}`
    const walls = answers.map(({ wallMs }) => wallMs)
    const isLast = at === questions.length - 1
    bench.reportValues({ scenario, peer: 'by the wall' }, walls, 'ms', isLast ? target : undefined)
    const processor = answers.flatMap(({ cpuMs }) => cpuMs ?? [])
    bench.reportValues({ scenario, peer: 'processor time' }, processor, 'ms')
  }
})

async function fill(directory: string): Promise<void> {
  await using keep = await openOurs(directory)
  keep.flows.run()
  let next = 0
  let found = 0
  while (found < passages) {
    const jobs = Array.from({ length: documentsAtOnce }, () => load(keep, next++))
    for (const { job } of await Promise.all(jobs)) {
      for await (const _event of keep.flows.watch({ job })) continue
    }
    const begins = { p: { v: vocabulary.beginIndex, e: true } }
    found = await keep.knowledge.graph({ user }).count(begins)
  }
  bench.note(`  ${found} passages of ${next} documents`)
  await keep.knowledge.index({ user })
}

function load(keep: Lorekeep, document: number): Promise<{ readonly job: string }> {
  const first = document * textsOfDocument
  const texts = Array.from({ length: textsOfDocument }, (_, n) => textOf(first + n))
  return keep.flows.load('default', { id: `urn:d:${document}`, user, content: texts.join('\n\n') })
}

/** Asks one question after the other, as assistants do. */
async function start(directory: string): Promise<Answered[]> {
  const begin = performance.now()
  const args = ['dist/package/dist/cli.js', 'mcp', '--data', directory, '--user', user]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answers: Answered[] = []
  for (const [id, { name, method, params }] of questions.entries()) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const { value } = (await lines.next()) as { readonly value: string }
    answers.push({ wallMs: performance.now() - begin, cpuMs: bench.processorMs(child.pid ?? 0) })
    const { result } = JSON.parse(value) as { readonly result?: { readonly isError?: true } }
    bench.check(result !== undefined && result.isError !== true, `${name} is answered`)
    if (id === 0) child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  }
  child.stdin.end()
  await once(child, 'close')
  return answers
}
