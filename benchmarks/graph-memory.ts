// Memory of a process that asks an indexed core of 10,000,000 triples which another process has
// made: subjects at random, objects that many triples share, and joins. Mapped files count.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { GeneratedGraph } from './graph-data.js'
import type { MemoryAnswer } from './graph-memory-child.js'
import { countResults } from './graph-memory-questions.js'
import { check, inDirectory, note, report } from './measure.js'

const triples = 10_000_000

await inDirectory(async (directory) => {
  note(`graph-memory: filling the store with ${triples} triples`)
  const filled = await run('fill', directory)
  note(`  filled in ${filled.seconds.toFixed(0)} s, VmHWM ${filled.peakMiB} MiB`)
  const idle = await run('idle', directory)
  const asked = await run('ask', directory)
  note(
    `  ${asked.results} results of ${asked.questions} questions in ${asked.seconds.toFixed(1)} s`,
  )
  const wanted = countResults(new GeneratedGraph(triples))
  check(asked.results === wanted, `the results: ${asked.results} of ${wanted}`)
  for (const [name, value, theirs] of [
    ['VmHWM', asked.peakMiB, idle.peakMiB],
    ['RSS at the end', asked.rssMiB, idle.rssMiB],
  ] as const) {
    report({
      scenario: `${name}, asking 10,000,000 triples`,
      peer: 'the store open and idle',
      ours: `anon ${asked.anonMiB}, file ${asked.fileMiB} MiB at the end`,
      theirs: `${theirs} MiB`,
      ...{ value, low: value, high: value, unit: 'MiB' },
      target: { most: 300 },
    })
  }
})

async function run(task: 'fill' | 'idle' | 'ask', directory: string): Promise<MemoryAnswer> {
  const script = fileURLToPath(new URL('./graph-memory-child.js', import.meta.url))
  const child = spawn(process.execPath, [script, task, directory, String(triples)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  const output = await text(child.stdout)
  check((await exit) === 0, `the process that was to ${task}`)
  return JSON.parse(output) as MemoryAnswer
}
