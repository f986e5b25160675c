// docs/growth.md shows of the runs that are kept how costs grow.

import t from 'tap'
import {
  collisionsOf,
  emptyPages,
  isWellFormed,
  leastContrast,
  quiet,
  scaleBy,
  script,
  textsOf,
  type Run,
} from './drawn.js'

type Points = Run['points']

const sizes = [1e3, 1e4, 1e5, 1e6, 1e7]
const line = (cost: string, unit: 'ms' | 'us' | 'bytes', of: (size: number) => number | null) =>
  sizes.map((size) => ({ growth: 'cores', cost, size, value: of(size), unit, of: 'growth' }))

const points: Points = [
  ...line('find one', 'us', () => 50),
  ...line('read all', 'ms', (size) => size / 1000),
  ...line('sort', 'ms', (size) => (size === 1e6 ? null : Math.sqrt(size))),
  ...line('never measured', 'ms', () => null),
  ...line('nothing', 'ms', () => 0),
]
/** What is written at a step of the axis stands that much below its line. */
const below = 4
const chart = 'docs/images/growth-cores-quiet.svg'

t.test('lines lie where the numbers of the JSON are, on two logarithmic axes', (t) => {
  const svg = drawn(points).get(chart) ?? ''
  const texts = textsOf(svg)
  const [x, y] = [scaleBy(texts, 'x', '1,000', '100,000'), scaleBy(texts, 'y', '10 µs', '1 s')]
  const lines = [...svg.matchAll(/d="M([^"]*)"[^>]* class="cost"/g)].map(([, d = '']) =>
    d.split('L').map((place) => place.split(',').map(Number)),
  )
  const expected = [
    sizes.map((size) => [size, 50e-6]),
    sizes.map((size) => [size, size / 1e6]),
    sizes.filter((size) => size !== 1e6).map((size) => [size, Math.sqrt(size) / 1000]),
  ]
  t.strictSame(
    lines.map((places) => places.length),
    expected.map((places) => places.length),
  )
  for (const [n, places] of expected.entries()) {
    for (const [k, [size = NaN, seconds = NaN]] of places.entries()) {
      const [px = NaN, py = NaN] = lines[n]?.[k] ?? []
      t.ok(Math.abs(px - x(size)) < 0.25, `line ${n}, point ${k}: x ${px}, not ${x(size)}`)
      t.ok(Math.abs(py + below - y(seconds)) < 0.25, `line ${n}, point ${k}: y ${py}`)
    }
  }
  t.end()
})

t.test('bytes have an axis of their own, and a line that ends early says where', (t) => {
  const disk = line('disk', 'bytes', (size) => size * 1000)
  const early = line('early', 'bytes', () => 10_000_000).slice(0, 3)
  const svg = drawn([...points, ...disk, ...early]).get(chart) ?? ''
  const texts = textsOf(svg).map(({ text }) => text)
  for (const text of ['10 µs', '1 MB', '10 GB', 'disk: 10 GB', 'early: 10 MB at 100,000'])
    t.ok(texts.includes(text), text)
  t.strictSame(collisionsOf(svg), [])
  t.end()
})

t.test('the table has each value, and the slope over all sizes', (t) => {
  const page = drawn(points).get('docs/growth.md') ?? ''
  t.match(page, /^## quiet\n\nNode v20, .* 7 November 2026, commit abc123abc123\.\n\n### cores$/m)
  const rows = page.match(/^\|.*$/gm)
  t.strictSame(rows, [
    '| cost | 1,000 | 10,000 | 100,000 | 1,000,000 | 10,000,000 | slope |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    '| find one | 50 µs | 50 µs | 50 µs | 50 µs | 50 µs | 0.00 |',
    '| read all | 1 ms | 10 ms | 100 ms | 1 s | 10 s | 1.00 |',
    '| sort | 31.6 ms | 100 ms | 316 ms |  | 3.16 s | 0.50 |',
    '| never measured |  |  |  |  |  |  |',
    '| nothing |  |  |  |  |  |  |',
  ])
  t.end()
})

t.test('labels at the ends of lines stand below each other, however near these end', (t) => {
  const long = 'a cost with a name that says what it is, whatever room there is for that'
  const near = Array.from({ length: 12 }, (_, n) => line(`${n} ${long}`, 'us', () => 50 + n)).flat()
  const one = line('once', 'bytes', () => 12).slice(0, 1)
  for (const drawnPoints of [points, near, one]) {
    const svg = drawn(drawnPoints).get(chart) ?? ''
    t.strictSame(collisionsOf(svg), [])
    t.ok(leastContrast(svg) >= 3)
    t.ok(isWellFormed(svg))
    t.match(
      svg,
      /^<svg [^>]*role="img"[^>]*>\n<title [^>]*>cores: [^<]+<\/title>\n<desc [^>]*>[^<]+<\/desc>\n/,
    )
  }
  t.equal(
    textsOf(drawn(near).get(chart) ?? '').filter(({ whole }) => whole.includes(long)).length,
    12,
  )
  t.end()
})

t.test('labels stay beside their axes', (t) => {
  for (const least of [10, 60, 88]) {
    const near = Array.from({ length: 12 }, (_, n) => line(`cost ${n}`, 'us', () => least + n))
    const texts = textsOf(drawn(near.flat()).get(chart) ?? '')
    const placeOf = (text: string) => texts.find((found) => found.text === text)?.y ?? NaN
    const labels = texts.filter(({ text }) => text.startsWith('cost '))
    t.equal(labels.length, 12)
    for (const { text, y } of labels) {
      t.ok(y > placeOf('100 µs') && y < placeOf('10 µs') + 12, `${least}: ${text} at ${y}`)
    }
  }
  t.end()
})

t.test('what grows has a chart of its own, with a name that a file may have', (t) => {
  const hostile = '../<b>"Cores" & more|*</b>\u0000'
  const files = drawn([
    ...points,
    ...points.map((point) => ({ ...point, growth: hostile, cost: `${hostile} ${point.cost}` })),
  ])
  t.strictSame(
    [...files.keys()].filter((path) => path.includes('growth-')),
    [chart, 'docs/images/growth-b-cores-more-b-quiet.svg'],
  )
  for (const [path, text] of files) {
    if (path.endsWith('.svg')) t.ok(isWellFormed(text), path)
    else t.notMatch(text.replace(/^<!--.*-->$/gm, ''), /[<>]/, path)
  }
  const twice = points.map((point) => ({ ...point, growth: 'Cores!' }))
  t.throws(() => drawn([...points, ...twice]), /would be of two things/)
  t.end()
})

t.test('without points the page says that there are none', (t) => {
  t.match(drawn([]).get('docs/growth.md'), /-->\n\nNo run has been kept yet\.\n\n<!--/)
  t.end()
})

function drawn(points: Points): Map<string, string> {
  return script.pagesOf([{ ...quiet, points }], emptyPages)
}
