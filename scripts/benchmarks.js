// Writes what the docs show of runs that are kept in benchmarks/results, one of each kind of machine: tables
// and charts. The same results give the same bytes.
//
//     node scripts/benchmarks.js

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { figureHead, figureRow, verdict } from '../dist/benchmarks/result.js'
import { drawBars, isRatio } from './charts/bars.js'
import { costsOf, drawLines, show, slopeOf } from './charts/lines.js'
import { clean, inThousands } from './charts/svg.js'

const results = 'benchmarks/results'
const images = 'docs/images'
const ofCharts = /^(benchmarks|growth)-.*\.svg$/

/** Which files of benchmarks/ are about one thing. Those that are nowhere are of a group of their own. */
const groups = [
  {
    name: 'cores',
    title: 'Cores',
    files: [
      ...[
        'import-triples',
        'import-embeddings',
        'import-large',
        'export',
        'chunks',
        'scanner',
        'small-cores',
      ],
      ...['backup', 'postgres', 'shared'],
    ],
  },
  {
    name: 'objects',
    title: 'Objects',
    files: [
      ...['objects-import', 'objects-range', 'objects-get', 'objects-filter', 'objects-text'],
      'objects-large',
    ],
  },
  {
    name: 'queues',
    title: 'Queues and steps',
    files: [
      ...['flows-load', 'flows-load-one', 'flows-work', 'flows-million', 'lists'],
      ...['chunk-text', 'extraction'],
    ],
  },
  {
    name: 'graphs',
    title: 'Graphs and vectors',
    files: [
      ...['graph-import', 'graph-match', 'graph-join', 'graph-memory', 'graph-vectors'],
      ...['graph-vectors-peers', 'graph-vectors-large', 'library', 'library-load', 'library-large'],
    ],
  },
  {
    name: 'search',
    title: 'Search',
    files: ['search-large', 'retrieval', 'same-things', 'rare', 'novel', 'texts'],
  },
  {
    name: 'http',
    title: 'HTTP and memory',
    files: [
      ...['export-http', 'import-http', 'fetch-http', 'handler', 'memory', 'inspector', 'mcp'],
      ...['start', 'serve-idle', 'importing'],
    ],
  },
]
const known = new Set(groups.flatMap(({ files }) => files))
const inGroup = (group) => (figure) =>
  group.files ? group.files.includes(figure.of) : !known.has(figure.of)
const allGroups = [...groups, { name: 'other', title: 'What else there is' }]

/** Runs by the names of their files, without what says that they are JSON, in the order of these. */
export function keptRuns(root) {
  let files = []
  try {
    files = readdirSync(join(root, results)).filter((file) => file.endsWith('.json'))
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  return files.sort().map((file) => {
    const name = file.slice(0, -'.json'.length)
    if (slugOf(name) !== name) throw new Error(`${file}: a name is of a to z, 0 to 9 and hyphens`)
    return { ...JSON.parse(readFileSync(join(root, results, file), 'utf8')), name }
  })
}

/** Paths and what is to be there: the two pages as they are but for what is between markers, and charts. */
export function pagesOf(runs, { benchmarks, growth }) {
  const files = new Map()
  const put = (path, text) => {
    if (files.has(path)) throw new Error(`${path} would be of two things`)
    files.set(path, text)
  }
  const told = (parts) => (parts.length > 0 ? parts : ['No run has been kept yet.'])
  const measured = runs.filter(({ figures }) => figures.length > 0)
  const tables = measured.map((run) => figuresOf(run, put))
  put('docs/benchmarks.md', between(benchmarks, 'runs', told(tables)))
  const grown = runs.filter(({ points }) => points.length > 0).map((run) => growthOf(run, put))
  put('docs/growth.md', between(growth, 'runs', told(grown)))
  return files
}

function figuresOf(run, put) {
  const { name, figures } = run
  const verdicts = figures.map(verdict)
  const count = (wanted) => verdicts.filter((verdict) => verdict === wanted).length
  const parts = [
    `### ${name}`,
    originOf(run),
    `Of ${count('met') + count('missed')} targets ${count('met')} are met and ${count('missed')} missed.`,
  ]
  for (const group of allGroups) {
    const own = figures.filter(inGroup(group)).filter(isRatio)
    if (own.length === 0) continue
    const file = `benchmarks-${group.name}-${name}.svg`
    put(`${images}/${file}`, drawBars(`${group.title}: ours beside its peers, ${name}`, own))
    parts.push(`![${group.title}: ratios of the table below as bars](images/${file})`)
  }
  parts.push(table(figureHead, figures.map(figureRow)))
  return parts.join('\n\n')
}

function growthOf(run, put) {
  const { name, points } = run
  const parts = [`## ${name}`, originOf(run)]
  for (const growth of new Set(points.map(({ growth }) => growth))) {
    const own = points.filter((point) => point.growth === growth)
    const file = `growth-${slugOf(growth)}-${name}.svg`
    put(`${images}/${file}`, drawLines(`${growth}: cost by size, ${name}`, own))
    parts.push(`### ${inMarkdown(growth)}`)
    parts.push(`![Costs of the table below by size, as lines](images/${file})`, growthTable(own))
  }
  return parts.join('\n\n')
}

function growthTable(points) {
  const sizes = [...new Set(points.map(({ size }) => size))].sort((a, b) => a - b)
  const rows = costsOf(points).map(({ cost, unit, points }) => {
    const cells = sizes.map((size) => {
      const found = points.findLast((point) => point.size === size)
      return found ? show(found.value, unit) : ''
    })
    return [cost, ...cells, slopeOf(points)?.toFixed(2) ?? '']
  })
  return table(['cost', ...sizes.map(inThousands), 'slope'], rows)
}

const months =
  'January February March April May June July August September October November December'.split(' ')

function originOf({ machine, date, commit }) {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)T/.exec(date) ?? []
  const told = year ? `${Number(day)} ${months[month - 1]} ${year}` : date
  return `${inMarkdown(machine)}, ${inMarkdown(told)}, commit ${inMarkdown(commit)}.`
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map(inMarkdown).join(' | ')} |`
  return [line(head), `| ${head.map(() => '---').join(' | ')} |`, ...rows.map(line)].join('\n')
}

/** As text and nothing else, in one line. */
function inMarkdown(text) {
  return clean(text)
    .replace(/\s+/g, ' ')
    .replace(/[&<>[\]]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/[\\`*_|~]/g, '\\$&')
}

function between(page, name, parts) {
  const [start, end] = [`<!-- ${name}: by scripts/benchmarks.js -->`, `<!-- end of ${name} -->`]
  const [before, rest, ...more] = page.split(start)
  const after = rest?.split(end)
  if (after?.length !== 2 || more.length > 0)
    throw new Error(`a page has no '${start}' and its end`)
  return [before + start, ...parts, end + after[1]].join('\n\n')
}

function slugOf(text) {
  const words = text.toLowerCase().match(/[a-z0-9]+/g)
  return words?.join('-') ?? 'unnamed'
}

export function pagesNow(root) {
  const page = (name) => readFileSync(join(root, 'docs', name), 'utf8')
  return { benchmarks: page('benchmarks.md'), growth: page('growth.md') }
}

/** Charts that are there, whoever drew them. */
export function chartsNow(root) {
  const names = readdirSync(join(root, images)).filter((file) => ofCharts.test(file))
  return names.map((name) => `${images}/${name}`)
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const root = join(import.meta.dirname, '..')
  const files = pagesOf(keptRuns(root), pagesNow(root))
  for (const path of chartsNow(root)) if (!files.has(path)) rmSync(join(root, path))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}
