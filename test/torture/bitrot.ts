// One flipped bit in a store that nobody has open, and then everything is read. Right, a typed error
// of that read, or a refusal to open; anything else is silent damage.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LevelBackend } from '../../adapters/level/index.js'
import { hasCode, LorekeepError } from '../../src/errors.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { jobQuestions, layouts, questions, runToEnd } from './bitrot-content.js'
import type { Ending, Layout, Question } from './bitrot-content.js'

interface BitrotOptions {
  readonly directory: string
  readonly rounds: number
  readonly seed: number
  readonly onRound?: (round: number) => void
}

interface Master {
  readonly name: string
  readonly path: string
  readonly layout: Layout
  readonly files: ReadonlyMap<string, readonly string[]>
  readonly questions: readonly Question[]
  readonly answers: readonly string[]
  readonly ending: Ending
}

export interface BitrotReport {
  /** By the kind of file: how often all was right, reads were refused, or the open. */
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly silent: number
}

type Outcome = { readonly silent: string } | 'right' | 'told' | 'refused'

export async function bitrot(options: BitrotOptions): Promise<BitrotReport> {
  const { directory, rounds, seed, onRound } = options
  const random = new Random(seed)
  const wanted = (['logs', 'tables'] as const).flatMap((layout) =>
    (['close', 'kill'] as const).map((end) => ({ layout, end })),
  )
  const masters = await Promise.all(
    wanted.map(({ layout, end }) => {
      return masterOf(join(directory, `${layout}-${end}`), layout, end, seed)
    }),
  )
  const outcomes: Record<string, Record<string, number>> = {}
  const silent: string[] = []
  for (let round = 0; round < rounds; round++) {
    const master = masters[round % masters.length]!
    const kind = random.pick([...master.files.keys()])
    const file = random.pick(master.files.get(kind)!)
    const damaged = join(directory, 'damaged')
    await cp(master.path, damaged, { recursive: true })
    const { size } = await stat(join(damaged, file))
    const [at, bit] = [random.below(size), random.below(8)]
    const place = `${master.name}: bit ${bit} of byte ${at} of ${size} of ${file}`
    // Should it bring the process down.
    await writeFile(join(directory, 'round'), `round ${round}, seed ${seed}, ${place}\n`)
    await flip(join(damaged, file), at, bit)
    const outcome = await outcomeOf(master, damaged)
    const word = typeof outcome === 'string' ? outcome : 'silent'
    outcomes[kind] = { ...outcomes[kind], [word]: (outcomes[kind]?.[word] ?? 0) + 1 }
    if (typeof outcome !== 'string') {
      silent.push(`${place}: ${outcome.silent}`)
      console.log(`  silent, round ${round}, seed ${seed}: ${silent.at(-1)}`)
    }
    await rm(damaged, { recursive: true })
    onRound?.(round)
  }
  assert.deepEqual(silent, [], `seed ${seed}`)
  return { outcomes, silent: silent.length }
}

async function masterOf(
  path: string,
  layout: Layout,
  end: 'close' | 'kill',
  seed: number,
): Promise<Master> {
  const child = spawn(
    process.execPath,
    ['dist/test/torture/bitrot-child.js', path, String(seed), layout, end],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const exited = once(child, 'exit')
  if (end === 'kill') {
    await Promise.race([once(child.stdout, 'data'), exited])
    child.kill('SIGKILL')
  }
  assert.deepEqual(await exited, end === 'kill' ? [null, 'SIGKILL'] : [0, null])
  // What an undamaged one answers.
  const whole = `${path}-whole`
  await cp(path, whole, { recursive: true })
  const errors: unknown[] = []
  const keep = await openAt(whole, layout, errors)
  const asked = [...questions(), ...(await jobQuestions(keep))]
  const answers: string[] = []
  for (const { ask } of asked) answers.push(JSON.stringify(await ask(keep)))
  const ending = await runToEnd(keep, errors)
  await keep.close()
  assert.deepEqual(errors, [])
  assert.ok(ending.ended && ending.unreadable === 0 && ending.seen.length > 0)
  const name = `${layout}, ${end === 'kill' ? 'killed' : 'closed'}`
  const files = await filesByKind(path)
  return { name, path, layout, files, questions: asked, answers, ending }
}

function openAt(path: string, layout: Layout, errors: unknown[]) {
  const backend = new LevelBackend(path, layouts[layout])
  return createLorekeep({ backend, onError: (error) => errors.push(error) })
}

const kinds: readonly (readonly [string, RegExp])[] = [
  ['log', /^\d+\.log$/],
  ['table', /^\d+\.ldb$/],
  ['MANIFEST', /^MANIFEST/],
  ['CURRENT', /^CURRENT$/],
  ['CLOSED', /^CLOSED$/],
  ['value file', /^[0-9a-f]{24}$/],
]

/** Those with a bit to flip: a kind in a partition is as likely as another, `LOG` and such together. */
async function filesByKind(path: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || (await stat(file)).size === 0) continue
    const relative = file.slice(path.length + 1)
    const kind = kinds.find(([, pattern]) => pattern.test(entry.name))?.[0]
    const name = kind === undefined ? 'other' : `${kind} of ${relative.split('/')[0]}`
    found.set(name, [...(found.get(name) ?? []), relative])
  }
  return found
}

async function flip(path: string, at: number, bit: number): Promise<void> {
  await using file = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  byte[0]! ^= 1 << bit
  await file.write(byte, 0, 1, at)
}

async function outcomeOf(master: Master, path: string): Promise<Outcome> {
  const errors: unknown[] = []
  let keep
  try {
    keep = await openAt(path, master.layout, errors)
  } catch (error) {
    return isTyped(error) ? 'refused' : { silent: `open: ${String(error)}` }
  }
  try {
    let told = false
    for (const [place, { name, ask }] of master.questions.entries()) {
      try {
        const answer = JSON.stringify(await ask(keep))
        if (answer !== master.answers[place]) {
          return {
            silent: `${name}: ${answer.slice(0, 300)}, not ${master.answers[place]!.slice(0, 300)}`,
          }
        }
      } catch (error) {
        if (!isTyped(error)) return { silent: `${name}: ${String(error)}` }
        told = true
      }
    }
    try {
      const wrong = wrongEnding(await runToEnd(keep, errors), master.ending, errors)
      if (wrong !== undefined) return { silent: wrong }
    } catch (error) {
      if (!isTyped(error)) return { silent: `run: ${String(error)}` }
      told = true
    }
    const strange = errors.find((error) => !isTyped(error))
    if (strange !== undefined) return { silent: `in the background: ${String(strange)}` }
    return told || errors.length > 0 ? 'told' : 'right'
  } finally {
    await keep.close()
  }
}

function wrongEnding(found: Ending, right: Ending, errors: readonly unknown[]): string | undefined {
  const strange = found.seen.filter((line) => !right.seen.includes(line))
  if (strange.length > 0) return `a step was given ${strange.join(', ')}`
  if (new Set(found.seen).size < found.seen.length) return 'a step was given something twice'
  const missing = right.seen.length - found.seen.length
  if (missing !== found.unreadable && errors.length === 0) {
    return `${missing} documents were not processed, ${found.unreadable} are dead letters`
  }
  return found.ended || errors.length > 0 ? undefined : 'the run did not end'
}

function isTyped(error: unknown): boolean {
  return error instanceof LorekeepError && hasCode(error, 'LK_STORAGE_CORRUPT')
}
