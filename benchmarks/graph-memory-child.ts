// node graph-memory-child.js fill|idle|ask DIRECTORY TRIPLES
//
// Fills a store in the directory, opens it and waits, or opens it and asks; and tells what memory
// that took.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Graph } from '../src/graph/types.js'
import { checkSame, GeneratedGraph, label, ref, type } from './graph-data.js'
import { chainSlot, createQuestions, labelSlot } from './graph-memory-questions.js'
import { collect, fillOurs, graphOf, openOurs } from './graph-store.js'
import { check } from './measure.js'
import { statusKiB } from './process-status.js'

export interface MemoryAnswer {
  readonly questions: number
  readonly results: number
  readonly seconds: number
  readonly peakMiB: number
  readonly rssMiB: number
  readonly anonMiB: number
  readonly fileMiB: number
}

type Outcome = Pick<MemoryAnswer, 'questions' | 'results'>

const [task, directory = '', triples] = process.argv.slice(2)
const generated = new GeneratedGraph(Number(triples))
const start = performance.now()
if (task === 'fill') {
  await fillOurs(directory, generated)
  // Whoever asks next would have the memory of merging, too: up to 256 MiB.
  await using keep = await openOurs(directory)
  await keep.knowledge.index({ user: ref.user })
  tell({ questions: 0, results: 0 })
} else {
  await using keep = await openOurs(directory)
  if (task === 'ask') tell(await ask(graphOf(keep)))
  else {
    await sleep(1000)
    tell({ questions: 0, results: 0 })
  }
}

async function ask(graph: Graph): Promise<Outcome> {
  const { subjects, objects, stars, chains } = createQuestions(generated)
  let results = 0
  for (const n of subjects) {
    const found = await collect(graph.match({ s: generated.entity(n) }))
    if (n % 100 === 0) checkSame(found, generated.describe(n), 'the triples of a subject')
    results += found.length
  }
  for (const { p, o } of objects) results += (await collect(graph.match({ p, o }))).length
  for (const { p, o, c } of stars) {
    const patterns = [
      { s: '?x', p, o },
      { s: '?x', p: type, o: c },
    ] as const
    results += (await collect(graph.solve(patterns))).length
  }
  for (const n of chains) {
    const { s, p } = generated.statement(n, chainSlot)
    const patterns = [
      { s, p, o: '?y' },
      { s: '?y', p: label, o: '?name' },
    ] as const
    const found = await collect(graph.solve(patterns))
    const wanted = generated.statement(generated.target(n, chainSlot), labelSlot).o
    check(found[0]?.['name']?.v === wanted.v, 'the end of a chain')
    results += found.length
  }
  const questions = subjects.length + objects.length + stars.length + chains.length
  return { questions, results }
}

function tell(outcome: Outcome): void {
  const field = (name: string) => Math.round(statusKiB(name) / 1024)
  const answer: MemoryAnswer = {
    ...outcome,
    seconds: (performance.now() - start) / 1000,
    peakMiB: field('VmHWM'),
    rssMiB: field('VmRSS'),
    anonMiB: field('RssAnon'),
    fileMiB: field('RssFile'),
  }
  process.stdout.write(JSON.stringify(answer))
}
