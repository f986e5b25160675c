// docs/benchmarks.md shows of the runs that are kept what is in their JSON.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  collisionsOf,
  emptyPages,
  isWellFormed,
  leastContrast,
  numberOf,
  quiet,
  scaleBy,
  script,
  textsOf,
  type Run,
} from './drawn.js'

const root = process.cwd()

t.test('the pages and charts are those of the runs that are kept', (t) => {
  const files = script.pagesOf(script.keptRuns(root), script.pagesNow(root))
  for (const [path, text] of files) {
    const now = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined
    t.equal(now, text, `${path}: npm run bench:page`)
  }
  for (const path of script.chartsNow(root)) t.ok(files.has(path), path)
  t.end()
})

const figure = { peer: 'a peer', ours: '3 /s', theirs: '1 /s', unit: 'x', of: 'export' } as const
const ratio = (scenario: string, value: number | null, low = value, high = value) => ({
  ...{ ...figure, scenario, value, low, high },
})
const withTarget = { target: { least: 2.5 }, met: true }

const made: Run = {
  ...quiet,
  figures: [
    { ...ratio('fast', 3, 2, 8), ...withTarget },
    { ...ratio('fast', 0.25, 0.2, 0.5), peer: 'another', target: { most: 0.3 }, met: true },
    { ...ratio('slow', 0.4, 0, 0.5), target: { least: 0.5 }, met: false },
    ratio('no target', 1),
    { ...ratio('was not a number', null), target: { least: 1 }, met: false },
    { scenario: 'away', peer: 'a peer', skipped: 'it is not installed', of: 'export' },
    { ...ratio('in memory', 30), unit: 'MiB', target: { most: 20 }, met: false },
    { ...ratio('new', 50), ...withTarget, of: 'what-nobody-knows' },
  ],
}
const chart = 'docs/images/benchmarks-cores-quiet.svg'

t.test('bars, whiskers and targets lie where the numbers of the JSON are', (t) => {
  const svg = drawn(made).get(chart) ?? ''
  const texts = textsOf(svg)
  const x = scaleBy(texts, 'x', '1', '5')
  const near = (found: number, value: number, what: string) =>
    t.ok(Math.abs(found - x(value)) <= 0.25, `${what}: ${found}, not ${x(value)}`)
  const bars = [...svg.matchAll(/<rect[^>]* class="bar"\/>/g)].map(([bar]) => {
    const from = numberOf(bar, 'x')
    return [from, from + numberOf(bar, 'width')] as const
  })
  const drawnBars = [
    [1, 3],
    [0.25, 1],
    [0.4, 1],
    [1, 1],
  ] as const
  t.equal(bars.length, drawnBars.length)
  for (const [n, [from, to]] of drawnBars.entries()) {
    near(bars[n]?.[0] ?? NaN, from, `bar ${n} begins`)
    near(bars[n]?.[1] ?? NaN, to, `bar ${n} ends`)
  }
  const whiskers = [...svg.matchAll(/d="M([\d.]+)[^"]*H([\d.]+)M[^>]* class="whisker"/g)]
  t.equal(whiskers.length, 3)
  // A whisker that begins at nothing begins at the edge.
  const ranges = [
    [2, 8],
    [0.2, 0.5],
    [0.2, 0.5],
  ] as const
  for (const [n, [low, high]] of ranges.entries()) {
    near(Number(whiskers[n]?.[1]), low, `whisker ${n} begins`)
    near(Number(whiskers[n]?.[2]), high, `whisker ${n} ends`)
  }
  const targets = [...svg.matchAll(/d="M([\d.]+)[^"l]*l(-?6) 3l[^>]* class="target"/g)].slice(1)
  t.strictSame(
    targets.map(([, , side]) => side),
    ['6', '-6', '6'],
  )
  for (const [n, value] of [2.5, 0.3, 0.5].entries()) {
    near(Number(targets[n]?.[1]), value, `target ${n}`)
  }
  t.end()
})

t.test('what has no bar says why, and what is no ratio is in the table alone', (t) => {
  const files = drawn(made)
  const texts = textsOf(files.get(chart) ?? '').map(({ text }) => text)
  for (const text of ['not measured', 'skipped: it is not installed', '0.40 missed', '1.00']) {
    t.ok(texts.includes(text), text)
  }
  t.notOk(texts.includes('in memory'))
  t.match(files.get('docs/benchmarks.md'), /^\| in memory \|.*\| 30 MiB \| ≤ 20 MiB \| missed \|$/m)
  t.match(
    files.get('docs/benchmarks.md'),
    /^\| was not a number \|.*\| not measured \| ≥ 1\.00 \|  \|$/m,
  )
  const others = textsOf(files.get('docs/images/benchmarks-other-quiet.svg') ?? '')
  t.ok(others.some(({ text }) => text === 'new'))
  t.end()
})

t.test('a page says of each run what it is of, and how many targets are met', (t) => {
  const another = { ...quiet, name: 'another', figures: [ratio('no target', 1)] }
  const page = drawn(made, another, { ...quiet, name: 'growth' }).get('docs/benchmarks.md') ?? ''
  t.match(
    page,
    /^# A\n\n<!-- runs: .*-->\n\n### quiet\n\nNode v20, 2 cores, a processor, 7 November 2026, commit abc123abc123\.$/m,
  )
  t.match(page, /^Of 5 targets 3 are met and 2 missed\.$/m)
  t.match(page, /^### another\n\n.*\n\nOf 0 targets 0 are met and 0 missed\.$/m)
  t.notMatch(page, '### growth', 'what has no figures is of the other page')
  t.match(page, '(images/benchmarks-cores-quiet.svg)')
  const again = script.pagesOf([made], { ...emptyPages, benchmarks: page })
  t.strictSame([...again], [...drawn(made)], 'what was between the markers is gone')
  t.match(drawn().get('docs/benchmarks.md'), /-->\n\nNo run has been kept yet\.\n\n<!--/)
  t.end()
})

const hostile = '<script>"a" & \'b\'</script> | `c` *d* [e](f)\n\u0000\uD800 </text>]]>'

t.test('names are text and nothing else', (t) => {
  const files = drawn({
    ...quiet,
    ...{ machine: hostile, commit: hostile, date: hostile },
    figures: [
      { ...ratio(hostile, 2), ...withTarget, peer: hostile, ours: hostile, of: hostile },
      { scenario: hostile, peer: hostile, skipped: hostile, of: 'export' },
    ],
  })
  t.equal([...files.keys()].filter((path) => path.endsWith('.svg')).length, 2)
  for (const [path, text] of files) {
    if (path.endsWith('.svg')) t.ok(isWellFormed(text), path)
    else t.notMatch(text.replace(/^<!--.*-->$/gm, ''), /[<>\0\uD800]|(?<!\\)[`*]|\]\(f/, path)
  }
  const rows = files.get('docs/benchmarks.md')?.match(/^\|.*$/gm) ?? []
  t.equal(rows.length, 4)
  for (const row of rows) t.equal(row.match(/(?<!\\)\|/g)?.length, 8, row)
  t.notOk(isWellFormed(`<a>${hostile}</a>`))
  t.end()
})

t.test('texts fit beside each other, and can be read on light and on dark', (t) => {
  const long = 'a name that says everything there is to say of what was measured here, '.repeat(3)
  const figures = [0.001, 3, 40_000, null].map((value) => ({ ...ratio(long, value), peer: long }))
  const away = { scenario: long, peer: long, skipped: long, of: 'export' }
  for (const run of [made, { ...quiet, figures: [...figures, away] }]) {
    const svg = drawn(run).get(chart) ?? ''
    t.strictSame(collisionsOf(svg), [])
    t.ok(leastContrast(svg) >= 3, `${leastContrast(svg)}`)
    t.match(
      svg,
      /^<svg [^>]*role="img"[^>]*>\n<title [^>]*>Cores: [^<]+<\/title>\n<desc [^>]*>[^<]+<\/desc>\n/,
    )
  }
  const shortened = textsOf(drawn({ ...quiet, figures }).get(chart) ?? '')
  t.ok(shortened.some(({ text, whole }) => text.endsWith('…') && whole === long))
  t.end()
})

t.test('each scenario is of a group', (t) => {
  const list = /const scenarios = \[([^\]]*)\]/.exec(readFileSync('benchmarks/run.ts', 'utf8'))?.[1]
  const names = [...(list ?? '').matchAll(/'(.+)'/g)].map(([, name]) => name as string)
  t.ok(names.length > 40)
  // Of that one there are points.
  for (const of of names.filter((name) => name !== 'growth')) {
    const files = drawn({ ...quiet, figures: [{ ...ratio('a', 1), of }] })
    t.notOk(files.has('docs/images/benchmarks-other-quiet.svg'), of)
  }
  t.end()
})

t.test(
  'a name of a run that is none of a file, and a page without its markers, are refused',
  (t) => {
    const directory = (name: string) => t.testdir({ benchmarks: { results: { [name]: '{}' } } })
    t.throws(() => script.keptRuns(directory('A b.json')))
    t.strictSame(script.keptRuns(directory('a-b2.json')), [{ name: 'a-b2' }])
    t.strictSame(script.keptRuns(t.testdir({})), [])
    t.throws(() => script.pagesOf([], { ...emptyPages, benchmarks: '# A' }))
    t.end()
  },
)

function drawn(...runs: Run[]): Map<string, string> {
  return script.pagesOf(runs, emptyPages)
}
