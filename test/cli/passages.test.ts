import t from 'tap'
import { passagesOf } from '../../src/cli/output/passages.js'
import type { FoundPassage } from '../../src/graph/types.js'
import { entity } from './subgraphs.js'

const screen = { rows: 24, columns: 80, isHighlit: false }

const isis: FoundPassage = {
  chunk: entity('urn:isis/c0'),
  document: entity('urn:isis'),
  title: 'The\nIsis',
  heading: 'Above \u001b[31mIffley',
  core: 'rivers',
  start: 10,
  end: 57,
  text: '\nThe Thames is\r\n  rowed under another\u001b[2J name.',
  score: 2.3104,
  highlights: [
    [5, 11],
    [18, 23],
  ],
  explanation: [
    { word: 'thames', passages: 12, idf: 1, frequency: 1, score: 0.3304 },
    { word: 'rows', passages: 1, idf: 1, frequency: 1, score: 1.98 },
  ],
}
const { explanation: _, ...plain } = isis
const bare: FoundPassage = {
  chunk: entity('urn:c'),
  core: 'rivers',
  text: 'The Thames.',
  score: 1,
  highlights: [],
}

t.test('a passage has its names and its place, and nothing that moves a cursor', (t) => {
  t.strictSame(passagesOf([plain, bare], screen), {
    text: `[1]  The Isis › Above \\u001b[31mIffley
    <urn:isis>, 10 to 57
    The Thames is rowed under another\\u001b[2J name.
[2]  <urn:c>
    The Thames.
`,
    summary: '2 passages',
  })
  const { text } = passagesOf([isis, { ...bare, core: 'other' }], screen)
  t.match(text, '<urn:isis>, 10 to 57, core rivers\n')
  t.match(text, '[2]  <urn:c>, core other\n')
  t.match(text, '    2.310 = 0.330 thames (12 passages) + 1.980 rows (1 passage)\n')
  t.end()
})

t.test('what was found is in bold where there is bold type', (t) => {
  const { text } = passagesOf([plain], { ...screen, isHighlit: true })
  t.match(text, '    The \u001b[1mThames\u001b[22m is \u001b[1mrowed\u001b[22m under')
  // A phrase that goes on in the next line.
  const phrase = `${'word '.repeat(12)}one two ${'word '.repeat(3)}`
  const highlights = [[60, 67] as const]
  for (const columns of [60, 68, 72, 74, 76, 80]) {
    const { text } = passagesOf([{ ...bare, text: phrase, highlights }], {
      ...screen,
      columns,
      isHighlit: true,
    })
    const bold = [...text.matchAll(/\u001b\[1m([^\u001b]*)\u001b\[22m/g)].map(([, part]) => part)
    t.equal(bold.join(' '), 'one two', `${columns} columns`)
  }
  t.end()
})

t.test('much is cut to a screen around what was found, or whole with all', (t) => {
  const filler = 'Nothing of that is here, and there is a lot of it. '.repeat(40)
  const wide = '長い文'.repeat(200)
  const text = `${filler}boat ${filler}${wide} The boat on the Thames. ${filler}`
  const at = text.indexOf('boat on')
  const ranges = [text.indexOf('boat'), at, at + 12].map((from, n) => [from, from + 4 + (n & 2)])
  const long: FoundPassage = { ...bare, text, highlights: ranges as [number, number][] }
  const many = Array.from({ length: 40 }, () => ({ ...long, title: 'T'.repeat(200) }))
  for (const [rows, columns] of [
    [24, 80],
    [50, 200],
    [10, 40],
    [6, 20],
  ] as const) {
    const { text, summary } = passagesOf(many, { ...screen, rows, columns })
    const lines = text.trimEnd().split('\n')
    t.ok(lines.length <= rows - 2, `${lines.length} lines in ${rows} rows`)
    for (const line of lines) t.ok(line.length <= columns, line)
    t.match(summary, /^\d+ of 40 passages; --all /)
  }
  t.match(passagesOf([long], screen).text, / {4}… [^…]*boat on the Thames\.[^…]* …\n$/)
  const one = passagesOf([long], { ...screen, rows: 1 })
  t.equal(one.summary, '1 passage')
  const all = passagesOf(many, screen, true)
  t.equal(all.summary, '40 passages')
  t.notMatch(all.text, '…')
  t.equal(all.text.match(/boat on the Thames/g)?.length, 40)
  t.end()
})
