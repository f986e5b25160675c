// npm run mutate [-- 200 [src/knowledge …]]: changes the compiled code in one random place at a time, and
// runs the test files that execute this place until one fails: those of its folder first, the quickest
// first, for as long as they take two minutes together. Names each mutant that none notices: it wants a
// test, or its code may go, or it changes nothing that matters. SEED repeats a draw. Two at a time; an
// hour for 200 mutants on two cores, and ten minutes before it to see what each test executes.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { SourceMap } from 'node:module'
import type { SourceMapPayload } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pickSeed, Random } from '../fixtures/random.js'
import { runTestFile, testFiles } from '../test-file.js'
import { cover } from './coverage.js'
import type { Covering } from './coverage.js'
import { mutantsOf } from './mutants.js'
import type { Mutant } from './mutants.js'

interface Placed extends Mutant {
  readonly path: string
}

/** What no test notices in this time counts as unnoticed: half the suite executes the most used places. */
const maxSecondsOfTests = 120

const [amount = '200', ...folders] = process.argv.slice(2)
const seed = pickSeed()
console.log(`seed ${seed}`)

const sources = new Map<string, string>()
for (const folder of ['dist/src', 'dist/adapters']) {
  for (const name of await readdir(folder, { recursive: true })) {
    const path = `${folder}/${name.replaceAll('\\', '/')}`
    // What an older build left has no source any more.
    if (!path.endsWith('.js') || !existsSync(sourceOf(path))) continue
    sources.set(path, await readFile(path, 'utf8'))
  }
}
const chosen = draw(Number(amount))

const lengths = new Map([...sources].map(([path, source]) => [path, source.length]))
const coverings: Covering[] = []
await inPairs(testFiles(), async (file) => {
  coverings.push(await cover(file, lengths))
})
coverings.sort((a, b) => a.seconds - b.seconds)
console.log(`${coverings.length} test files pass as they are`)

const survivors: string[] = []
let killed = 0
const home = await mkdtemp(join(tmpdir(), 'lorekeep-mutation-'))
if (existsSync('../shared')) await symlink(resolve('../shared'), join(home, 'shared'))
const copies: string[] = []
await inPairs(chosen, async (mutant) => {
  const copy = copies.pop() ?? (await copyOf(home))
  const killer = await kill(mutant, copy)
  copies.push(copy)
  if (killer === undefined) survivors.push(described(mutant))
  else killed++
  console.log(killer === undefined ? `SURVIVED ${described(mutant)}` : `killed by ${killer}`)
})
await rm(home, { recursive: true })
console.log(`${killed} of ${chosen.length} killed; survivors:`)
for (const line of survivors.sort()) console.log(line)

function draw(count: number): readonly Placed[] {
  assert.ok(Number.isSafeInteger(count) && count > 0, `'${amount}' is no number of mutants`)
  const all = [...sources].flatMap(([path, source]) =>
    folders.length === 0 || folders.some((folder) => path.startsWith(`dist/${folder}`))
      ? mutantsOf(source).map((mutant) => ({ ...mutant, path }))
      : [],
  )
  console.log(`${Math.min(count, all.length)} of ${all.length} mutants`)
  return new Random(seed).shuffle(all).slice(0, count)
}

/** The first test file that notices, or `undefined`. */
async function kill(mutant: Placed, copy: string): Promise<string | undefined> {
  const { path, start, end, replacement } = mutant
  const source = sources.get(path) as string
  await writeFile(join(copy, path), source.slice(0, start) + replacement + source.slice(end))
  try {
    for (const { file, seconds } of testsOf(mutant)) {
      const timeoutMs = Math.ceil(20_000 + 4000 * seconds)
      const { ok } = await runTestFile(file, { cwd: copy, timeoutMs, quiet: true })
      if (!ok) return file
    }
    return undefined
  } finally {
    await writeFile(join(copy, path), source)
  }
}

/** Those that execute the place; of a place that no orderly end told of, those of its folder. */
function testsOf({ path, start }: Placed): readonly Covering[] {
  const folder = path.replace(/^dist\/(?:src\/)?/, '').split('/', 1)[0] ?? ''
  const isNear = ({ file }: Covering) => file.startsWith(`test/${folder}`)
  const executing = coverings.filter(({ executed }) => executed.get(path)?.[start] === 1)
  if (executing.length === 0) return coverings.filter(isNear)
  const near = executing.filter(isNear)
  const far = executing.filter((covering) => !isNear(covering))
  let seconds = 0
  return [...near, ...far].filter((covering, at) => {
    seconds += covering.seconds
    return at === 0 || seconds <= maxSecondsOfTests
  })
}

/** A checkout of its own, in which `dist` is changed and everything else is as here. */
async function copyOf(home: string): Promise<string> {
  const copy = await mkdtemp(join(home, 'copy-'))
  for (const name of await readdir('.')) {
    if (name === 'dist') await cp(name, join(copy, name), { recursive: true })
    else if (name !== '.tap' && name !== '.git') await symlink(resolve(name), join(copy, name))
  }
  return copy
}

function described({ path, start, end, replacement, kind }: Placed): string {
  const source = sources.get(path) as string
  const before = source.slice(0, start).split('\n')
  const line = before.length - 1
  const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')) as SourceMapPayload)
  const entry = map.findEntry(line, before.at(-1)?.length ?? 0)
  const place = 'originalLine' in entry ? `:${entry.originalLine + 1}` : ''
  const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 100)
  return `${sourceOf(path)}${place} ${kind}: ${short(source.slice(start, end))} -> ${short(replacement)}`
}

function sourceOf(path: string): string {
  return path.replace(/^dist\//, '').replace(/js$/, 'ts')
}

async function inPairs<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values()
  const next = async () => {
    for (const item of waiting) await work(item)
  }
  await Promise.all([next(), next()])
}
