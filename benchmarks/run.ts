// Runs the scenarios, each in a process of its own, and prints one table, and one more of points where a
// scenario tells how a cost grows.
//
//   node dist/benchmarks/run.js [--json] [--into FILE] [scenario …]
//
// `--into` keeps the run: its JSON becomes that file once all of it is there, and until then an older
// one stays. What ended of it is kept in FILE.part, and the same call of the same commit goes on from
// there. A target that is missed is no failure (the machine may be slow); a wrong result is.

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { PartialRun } from './partial-run.js'
import { figureTable, pointTable, resultOf, type Line } from './result.js'
import { buildSqlite } from './sqlite-build.js'

const scenarios = [
  'import-triples',
  'import-embeddings',
  'import-large',
  'export',
  'export-http',
  'import-http',
  'fetch-http',
  'handler',
  'chunks',
  'memory',
  'backup',
  'small-cores',
  'postgres',
  'shared',
  'scanner',
  'objects-import',
  'objects-range',
  'objects-get',
  'objects-filter',
  'objects-text',
  'objects-large',
  'flows-load',
  'flows-load-one',
  'flows-work',
  'flows-million',
  'inspector',
  'lists',
  'importing',
  'chunk-text',
  'extraction',
  'graph-import',
  'graph-match',
  'graph-join',
  'graph-vectors',
  'graph-vectors-peers',
  'graph-vectors-large',
  'graph-memory',
  'library',
  'library-load',
  'library-large',
  'texts',
  'mcp',
  'start',
  'serve-idle',
  'search-large',
  'retrieval',
  'same-things',
  'rare',
  'novel',
  'growth',
]

const { values: options, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, into: { type: 'string' } },
})
const unknown = asked.filter((name) => !scenarios.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`no scenario '${unknown.join("', '")}'; there are: ${scenarios.join(' ')}\n`)
  process.exit(2)
}
// Now, and not when all has run.
if (options.into !== undefined) mkdirSync(dirname(options.into), { recursive: true })

const chosen = asked.length > 0 ? asked : scenarios
const usesSqlite = (name: string) => /^objects-|^flows-(load|work)$/.test(name)
if (chosen.some(usesSqlite)) await buildSqlite()

const machine = `Node ${process.version}, ${cpus().length} cores, ${cpus()[0]?.model ?? ''}`
const begun = { machine, date: new Date().toISOString(), commit: commitOf() }
const partial = options.into === undefined ? undefined : PartialRun.open(options.into, begun)
const lines: Line[] = []
for (const name of chosen) lines.push(...(await linesOf(name)))

const result = resultOf(partial?.origin ?? begun, lines)
const json = `${JSON.stringify(result, null, 2)}\n`
if (options.json) process.stdout.write(json)
else {
  const tables = [figureTable(result.figures), pointTable(result.points)].filter((rows) => rows)
  process.stdout.write(`${[machine, ...tables].join('\n\n')}\n`)
}
// What was printed is there, whatever becomes of the file.
await partial?.finish(json)

async function linesOf(name: string): Promise<readonly Line[]> {
  const kept = partial?.linesOf(name)
  if (kept !== undefined) {
    process.stderr.write(`${name} has ended before, in the run of ${partial?.origin.date}\n`)
    return kept
  }
  const { lines, code } = await run(name)
  if (code === 0) {
    await partial?.add(name, lines)
    return lines
  }
  const skipped = `ended with exit code ${code}`
  process.stderr.write(`${name} ${skipped}\n`)
  process.exitCode = 1
  return [...lines, { scenario: name, peer: '', skipped, of: name }]
}

async function run(name: string): Promise<{ lines: readonly Line[]; code: number | null }> {
  const script = fileURLToPath(new URL(`./${name}.js`, import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  const output = (await text(child.stdout)).split('\n').filter((line) => line !== '')
  const lines = output.map((line) => ({ ...(JSON.parse(line) as Line), of: name }))
  return { lines, code: await exit }
}

/** Of a tree that has changes it says so. */
function commitOf(): string {
  const options = ['describe', '--always', '--dirty', '--exclude=*', '--abbrev=12']
  try {
    return execFileSync('git', options, { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return 'unknown'
  }
}
