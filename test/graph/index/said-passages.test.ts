import t from 'tap'
import { encodeTerm } from '../../../src/graph/index/encoded-term.js'
import { PredicateRoles } from '../../../src/graph/index/passage-roles.js'
import { passagesIn } from '../../../src/graph/index/said-passages.js'
import { TermTable } from '../../../src/graph/index/term-table.js'
import { passagePredicates } from '../../../src/vocabulary.js'
import { entity, literal } from '../asked.js'

const { text, partOf, mainEntity, from, label } = passagePredicates

t.test('of names there count so many of one thing, and of one passage or document', (t) => {
  const terms = new TermTable()
  const rows: { s: number; p: number; o: number }[] = []
  const numberOf = (term: ReturnType<typeof entity>) => {
    const words = encodeTerm(term)
    return terms.add(words, 0, words.length)
  }
  const say = (s: string, p: string, o: ReturnType<typeof entity>) => {
    rows.push({ s: numberOf(entity(s)), p: numberOf(entity(p)), o: numberOf(o) })
  }
  const name = (thing: string, count: number) => {
    for (let n = 0; n < count; n++)
      say(thing, label[n % label.length] as string, literal(`${thing} ${n}`))
  }
  say('p', text[0], literal('A text.'))
  say('p', partOf[0], entity('d'))
  say('q', text[0], literal('Another text.'))
  say('a', from[0], entity('p'))
  // As flows do: with each passage anew.
  for (let n = 0; n < 40; n++) name('a', 1)
  name('a', 40)
  for (let n = 0; n < 40; n++) {
    say(`b${n}`, from[0], entity('q'))
    say('d', mainEntity[0], entity(`c${n}`))
    name(`b${n}`, 30)
    name(`c${n}`, 30)
  }
  const column = (place: 's' | 'p' | 'o') => Uint32Array.from(rows, (row) => row[place])
  const columns = { s: column('s'), p: column('p'), o: column('o') }
  const said = passagesIn(columns, 0, rows.length, terms, new PredicateRoles(terms))
  const namesOf = (owner: string) =>
    said?.labels.get(numberOf(entity(owner)))?.map((id) => terms.textOf(id)) ?? []
  t.strictSame(
    namesOf('p'),
    Array.from({ length: 32 }, (_, n) => `a ${n}`),
  )
  for (const [owner, thing] of [
    ['q', 'b'],
    ['d', 'c'],
  ] as const) {
    const names = namesOf(owner)
    t.equal(names.length, 1000)
    t.equal(names[0], `${thing}0 0`)
    t.equal(names[999], `${thing}33 9`)
  }
  t.end()
})
