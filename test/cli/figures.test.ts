import t from 'tap'
import { formatBytes, formatCounted, printable } from '../../src/cli/output/figures.js'

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
