// Runs the scenarios, each in a process of its own, and prints one table.
//
//   node dist/benchmarks/run.js [--json] [scenario …]
//
// A target that is missed is no failure (the machine may be slow); a wrong result is.

import { spawn } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import type { Figure, Skipped } from './measure.js'
import { buildSqlite } from './sqlite-build.js'

type Line = Figure | Skipped

const scenarios = [
  'import-triples',
  'import-embeddings',
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
  'objects-million',
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
]

const asked = process.argv.slice(2).filter((argument) => argument !== '--json')
const unknown = asked.filter((name) => !scenarios.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`no scenario '${unknown.join("', '")}'; there are: ${scenarios.join(' ')}\n`)
  process.exit(2)
}

const chosen = asked.length > 0 ? asked : scenarios
const usesSqlite = (name: string) => /^objects-|^flows-(load|work)$/.test(name)
if (chosen.some(usesSqlite)) await buildSqlite()

const lines: Line[] = []
for (const name of chosen) lines.push(...(await run(name)))

const machine = `Node ${process.version}, ${cpus().length} cores, ${cpus()[0]?.model ?? ''}`
if (process.argv.includes('--json')) {
  process.stdout.write(`${JSON.stringify({ machine, figures: lines.map(judge) }, null, 2)}\n`)
} else {
  process.stdout.write(`${machine}\n\n${table(lines)}\n`)
}

async function run(name: string): Promise<Line[]> {
  const script = fileURLToPath(new URL(`./${name}.js`, import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  const output = (await text(child.stdout)).split('\n').filter((line) => line !== '')
  const code = await exit
  if (code !== 0) {
    process.stderr.write(`${name} ended with exit code ${code}\n`)
    process.exitCode = 1
  }
  return output.map((line) => JSON.parse(line) as Line)
}

function judge<L extends Line>(line: L): L & { readonly met?: boolean } {
  if ('skipped' in line || !line.target) return line
  const { target, value } = line
  return { ...line, met: 'least' in target ? value >= target.least : value <= target.most }
}

/** As Markdown, to be pasted into README.md. */
function table(all: readonly Line[]): string {
  const rows = all.map((figure) => {
    if ('skipped' in figure) {
      return [figure.scenario, figure.peer, '', '', `skipped: ${figure.skipped}`, '', '']
    }
    const { met, target, unit } = judge(figure)
    const show = (value: number) =>
      unit === 'x' ? value.toFixed(2) : `${value.toFixed(unit === 'points' ? 1 : 0)} ${unit}`
    const range = figure.low === figure.high ? '' : ` (${show(figure.low)}–${show(figure.high)})`
    const wanted = !target
      ? ''
      : 'least' in target
        ? `≥ ${show(target.least)}`
        : `≤ ${show(target.most)}`
    const verdict = met === undefined ? '' : met ? 'met' : 'missed'
    const value = `${show(figure.value)}${range}`
    return [figure.scenario, figure.peer, figure.ours, figure.theirs, value, wanted, verdict]
  })
  const head = ['scenario', 'against', 'ours', 'theirs', 'median (min–max)', 'target', '']
  const widths = head.map((title, n) =>
    Math.max(title.length, ...rows.map((row) => (row[n] as string).length)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, n) => cell.padEnd(widths[n] as number)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}
