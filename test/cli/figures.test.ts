import t from 'tap'
import {
  cut,
  formatBytes,
  formatCounted,
  printable,
  widthOf,
} from '../../src/cli/output/figures.js'

t.test('sizes are told in the unit that suits them', async (t) => {
  t.equal(formatBytes(0), '0 B')
  t.equal(formatBytes(999), '999 B')
  t.equal(formatBytes(1000), '1.0 kB')
  t.equal(formatBytes(76_056), '76.1 kB')
  t.equal(formatBytes(999_949), '999.9 kB')
  t.equal(formatBytes(999_950), '1.0 MB')
  t.equal(formatBytes(5e15), '5000.0 TB')
})

t.test('one is not many', async (t) => {
  t.equal(formatCounted(1, 'triple'), '1 triple')
  t.equal(formatCounted(0, 'entity', 'entities'), '0 entities')
  t.equal(formatCounted(18_061, 'triple'), '18,061 triples')
})

t.test('nothing that moves a cursor is printed', async (t) => {
  t.equal(printable('a\nb\u001b[2J\u202ec\u009b'), 'a\\u000ab\\u001b[2J\\u202ec\\u009b')
  t.equal(printable('Genève – レ'), 'Genève – レ')
})

t.test('text is as wide as a terminal has it, and cut to that', async (t) => {
  for (const [text, width] of [
    ['', 0],
    ['Zoë', 3],
    ['東京', 4],
    ['ﾊﾞｽ', 3],
    ['한국', 4],
    ['🐝 ✅', 5],
    ['→ 5 €', 5],
    // Decomposed, as some systems have the names of files.
    ['Zoe\u0308', 3],
  ] as const) {
    t.equal(widthOf(text), width, text)
    t.equal(cut(text, width), text)
  }
  t.equal(cut('Frankenstein', 6), 'Frank…')
  t.equal(cut('東京都', 5), '東京…')
  t.equal(cut('東京都', 4), '東…')
  t.equal(cut('🐝🐝🐝', 3), '🐝…')
  t.equal(cut('Zoe\u0308s', 3), 'Zo…')
  t.equal(cut('Zoe\u0308 Z', 4), 'Zoe\u0308…')
  t.equal(cut('ab', 1), '…')
})
