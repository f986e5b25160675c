import t from 'tap'
import { keysOf, likenessOf, readName } from '../../../src/graph/same/likeness.js'

function compared(a: string, b: string) {
  const [one, other] = [readName(a), readName(b)]
  if (one === undefined || other === undefined) throw new Error('no names')
  const likeness = likenessOf(one, other)
  const keys = new Set(keysOf(one))
  return { likeness, haveKey: keysOf(other).some((key) => keys.has(key)) }
}

t.test('what is alike has a key in common, and says why', (t) => {
  for (const [a, b, reason] of [
    ['U.S. Navy', 'US Navy', 'form'],
    ['Seiya Fujita', 'Fujita Seiya', 'words'],
    ['University of Oxford', 'Oxford University', 'words'],
    ['Indian Film Festival of Melbourne', 'Indian Film Festival Melbourne', 'words'],
    ['World Health Organization', 'WHO', 'acronym'],
    ['Order of Friars Minor', 'O.F.M.', 'acronym'],
    ['J. K. Rowling', 'Joanne Rowling', 'initials'],
    ['R. N. Rao', 'Relangi Narasimha Rao', 'initials'],
    ['Ron McGovney', 'McGovney', 'part'],
    ['John Adams', 'John Quincy Adams', 'part'],
  ] as const) {
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const { likeness, haveKey } = compared(one, other)
      t.equal(likeness?.reason, reason, `${one} and ${other}`)
      t.ok(haveKey, `${one} and ${other} have a key in common`)
    }
  }
  t.end()
})

t.test('what is not alike is not', (t) => {
  for (const [a, b] of [
    ['Paris', 'Paris Hilton'],
    ['Formula 1 97', 'Formula 197'],
    ['World Trade Center', 'WHO'],
    ['Mary Shelley', 'Percy Shelley'],
    ['Van Johnson', 'Walter Johnson'],
    ['Google', 'Google+'],
    ['Visual C#', 'Visual C++'],
  ] as const) {
    t.equal(compared(a, b).likeness, undefined, `${a} and ${b}`)
  }
  t.equal(readName('x '.repeat(200)), undefined)
  t.equal(readName('...'), undefined)
  t.end()
})

t.test(
  'names that are alike score above parts, and other names below what a thing is called',
  (t) => {
    const score = (a: string, b: string) => compared(a, b).likeness?.score ?? 0
    t.ok(score('US Navy', 'U.S. Navy') > score('National Basketball Association', 'NBA'))
    t.ok(score('National Basketball Association', 'NBA') > score('United States', 'US'))
    t.ok(score('North Little Rock', 'Little Rock') < 0.6)
    const [own, other] = [readName('Banks'), readName('Banks', true)]
    t.ok((likenessOf(own!, other!)?.score ?? 1) < 0.6)
    t.end()
  },
)
