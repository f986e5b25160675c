import assert from 'node:assert/strict'
import t from 'tap'
import { encodeTerm, ENTITY, knownNumber, LITERAL } from '../../../src/graph/index/encoded-term.js'
import { maxAhead, TermTable } from '../../../src/graph/index/term-table.js'
import { WaitingTerms } from '../../../src/graph/index/waiting-terms.js'
import { pickSeed, Random } from '../../fixtures/random.js'

const seed = pickSeed()
const encoder = new TextEncoder()

t.test(`terms have the ids that looking each up gives (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const waiting = new WaitingTerms()
  const table = new TermTable()
  const [pieces, spellings] = [
    ['a', 'ab', 'äb', '', 'x'.repeat(40)],
    ['en', 'EN', 'de-CH'],
  ]
  const datatypes = ['http://www.w3.org/2001/XMLSchema#integer', 'urn:of-nobody']
  let expected = new TermTable()
  const named: { readonly name: number; readonly id: number }[] = []

  for (let round = 0; round < 6000; round++) {
    if (waiting.count === maxAhead || random.chance(0.02)) lookUp()
    if (random.chance(0.002)) {
      lookUp()
      table.clear()
      waiting.forget()
      expected = new TermTable()
    }
    const v = Array.from({ length: random.below(5) }, () => random.pick(pieces)).join('')
    const [view, from, to] = viewOf(v)
    const e = random.chance(0.5)
    const kind = e ? ENTITY : LITERAL
    const way = random.below(3)
    const name =
      way === 0
        ? waiting.add(view, from, to, kind)
        : way === 1
          ? waiting.addOfRun(view, from, to, kind)
          : waiting.addOfFew(view, from, to, kind)
    let term = { v, e } as { v: string; e: boolean; ln?: string; dt?: string }
    if (!e && way === 0 && random.chance(0.4)) {
      if (random.chance(0.5)) {
        const ln = random.pick(spellings)
        waiting.addLanguage(...viewOf(ln))
        term = { v, e, ln: ln.toLowerCase() }
      } else {
        const dt = random.pick(datatypes)
        waiting.addDatatype(...viewOf(dt), knownNumber(dt))
        term = { v, e, dt }
      }
    }
    const words = encodeTerm(term)
    named.push({ name, id: expected.add(words, 0, words.length) })
  }
  lookUp()
  t.pass()

  function lookUp(): void {
    const ids = waiting.lookUp(table)
    for (const { name, id } of named.splice(0)) {
      assert.equal(name < 0 ? ~name : ids[name], id)
    }
    assert.equal(waiting.count, 0)
    assert.equal(table.count, expected.count)
  }
})

/** Somewhere among other bytes. */
function viewOf(text: string): [view: DataView, from: number, to: number] {
  const bytes = encoder.encode(text)
  const all = new Uint8Array(bytes.length + 9).fill(0x61)
  all.set(bytes, 4)
  return [new DataView(all.buffer, 1), 3, 3 + bytes.length]
}

t.test('languages are spelled as they were met first', async (t) => {
  const waiting = new WaitingTerms()
  const table = new TermTable()
  for (const ln of ['de-CH', 'DE-ch', 'de-ch']) {
    waiting.add(...viewOf('Grüezi'), LITERAL)
    waiting.addLanguage(...viewOf(ln))
    t.equal(waiting.lookUp(table)[0], 0)
  }
  t.equal(table.count, 1)
  const [start, end] = [table.starts[0] as number, table.starts[1] as number]
  const entry = encodeTerm({ v: 'Grüezi', e: false, ln: 'de-ch' })
  const spelled = Buffer.from(table.words.buffer).subarray(4 * (start + entry.length), 4 * end)
  t.equal(spelled.toString().replace(/\0+$/, ''), 'de-CH')
})
