import fc from 'fast-check'
import t from 'tap'
import { findNames, sharedNames } from '../../../src/flow/steps/places-of-names.js'
import { Turns } from '../../../src/turns.js'
import { pickSeed } from '../../fixtures/random.js'

const seed = pickSeed()
const turns = new Turns(undefined)

t.test(`each name is found wherever the text has it (SEED=${seed})`, async (t) => {
  const letters = (maxLength: number) =>
    fc.string({ unit: fc.constantFrom('A', 'a', 'n', 'ß', ' ', '😀'), minLength: 1, maxLength })
  const names = fc.array(letters(6), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(letters(60), names, async (text, names) => {
      const found: Record<string, number[]> = {}
      const see = (name: string, at: number) => void (found[name] ??= []).push(at)
      await findNames(text, new Set(names), see, turns)
      const wanted: Record<string, number[]> = {}
      for (const name of new Set(names)) {
        for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
          ;(wanted[name] ??= []).push(at)
        }
      }
      t.strictSame(found, wanted, JSON.stringify({ text, names }))
    }),
    { seed, numRuns: 500 },
  )
})

t.test(`a name is shared where titles before it say so (SEED=${seed})`, async (t) => {
  const title = fc.constantFrom('Mr', 'mr.', 'MRS.', 'Miss', 'Lady', 'old', 'Younger', 'Dr.', 'x')
  const word = fc.constantFrom(
    'hall',
    'Hallé',
    'élu',
    'É',
    'weiß',
    'ſmith',
    'Ilse',
    'ılse',
    'ŉa',
    'ʼna',
  )
  const space = fc.constantFrom(' ', ' ', '  ', '\n', '\u00A0', '\t ', '-', '')
  const part = fc.tuple(title, space, word, space)
  const texts = fc.array(part, { maxLength: 16 }).map((parts) => parts.flat().join(''))
  const small = word.map((word) => word.toLowerCase())
  const names = fc.array(
    fc.array(small, { minLength: 1, maxLength: 2 }).map((words) => words.join(' ')),
    { maxLength: 6 },
  )
  let count = 0
  await fc.assert(
    fc.asyncProperty(texts, names, async (text, names) => {
      const wanted = new Set(names.filter((name) => isShared(text, name)))
      count += wanted.size
      t.strictSame(await sharedNames(text, new Set(names), turns), wanted, text)
    }),
    { seed, numRuns: 2000 },
  )
  t.ok(count > 50, `${count} were shared`)
})

/** By a look through the text for each name and title. */
function isShared(text: string, bare: string): boolean {
  const name = bare.replaceAll(' ', '\\s+')
  const has = (titles: string) => new RegExp(`\\b(?:${titles})\\.?\\s+${name}\\b`, 'i').test(text)
  return has('old|young|elder|younger') || (has('mr|sir|lord') && has('mrs|ms|miss|lady|dame'))
}
