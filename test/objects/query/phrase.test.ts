import * as fc from 'fast-check'
import t from 'tap'
import { EntryPage, sliceEntries, sortWords } from '../../../src/objects/engine/entries.js'
import { newKeys } from '../../../src/objects/engine/key-list.js'
import { tableSpan } from '../../../src/objects/engine/ref.js'
import { addWordKeys, formOf, wordsOf } from '../../../src/objects/engine/word-keys.js'
import { WordCursor, type WordPage } from '../../../src/objects/engine/word-page.js'
import { PhraseSearch } from '../../../src/objects/query/phrase.js'
import { windowRows } from '../../../src/objects/query/row-window.js'
import { WordScores } from '../../../src/objects/query/word-scores.js'
import { pickSeed } from '../../fixtures/random.js'

const word = fc.constantFrom('a', 'b', 'c', 'ab')
const row = fc.array(fc.array(word, { maxLength: 12 }), { maxLength: 3 })

t.test('a word that a row has many times takes no more than a pass over them', async (t) => {
  const pages = pagesOf([[`${'x '.repeat(300_000)}y`]], [7])
  const cursorsOf = (form: string) => cursorsIn(pages, (own) => own === form)
  const words = ['x', 'x', 'y'].map((form, offset) => ({ offset, cursors: cursorsOf(form) }))
  t.strictSame(rowsOf(words), [7])
})

t.test('a phrase takes no square of the words that its last one stands for', async (t) => {
  const count = 60_000
  const words = Array.from({ length: count }, (_, n) => `a b w${n.toString(36)}`)
  const pages = pagesOf([[words.join(' ')]], [7])
  const [a, b] = [(own: string) => own === 'a', (own: string) => own === 'b']
  const w = (own: string) => own.startsWith('w')
  const search = (...asked: readonly (readonly [number, (own: string) => boolean])[]) =>
    rowsOf(asked.map(([offset, fits]) => ({ offset, cursors: cursorsIn(pages, fits) })))
  t.strictSame(search([0, a], [1, b], [2, w]), [7])
  t.strictSame(search([2, w], [0, a], [1, b]), [7], 'the rarest first')
  t.strictSame(search([0, a], [2, w], [1, b]), [7])
  t.strictSame(search([0, a], [1, w]), [], 'none is there')
  t.strictSame(search([1, w], [0, a]), [])
  t.strictSame(search([0, a], [1, b], [3, w]), [])
  t.strictSame(search([0, w]), [7])
})

t.test('a search pauses within a window, by what it has read', async (t) => {
  const texts = Array.from({ length: 10 }, () => [`${'x '.repeat(100_000)}y`])
  const words = ['x', 'x', 'y'].map((form, offset) => {
    // As on disk, where a page ends behind some entries.
    const cursors = texts.flatMap((_, n) =>
      cursorsIn(pagesOf([texts[n] ?? []], [n]), (own) => own === form),
    )
    return { offset, cursors }
  })
  const rows: number[] = []
  let parts = 0
  for (const search = new PhraseSearch(words, undefined).find(rows); !search.next().done;) parts++
  t.strictSame(rows, [...texts.keys()])
  t.ok(parts >= texts.length, `${parts} parts`)
})

t.test('the rows are those that have the words one behind the other, in one string', async () => {
  const property = fc.property(
    fc.array(row, { maxLength: 12 }),
    fc.array(word, { minLength: 2, maxLength: 4 }),
    fc.boolean(),
    fc.boolean(),
    fc.constantFrom(1, 700, 10_000, 2 ** 33),
    (rows, forms, isPrefix, isReversed, apart) => {
      const last = forms.length - 1
      const fits = (own: string, n: number) =>
        isPrefix && n === last ? own.startsWith(forms[n] as string) : own === forms[n]
      const expected = rows.flatMap((strings, ref) => {
        const has = strings.some((words) =>
          words.some((_, at) =>
            forms.every((__, n) => words[at + n] !== undefined && fits(words[at + n] as string, n)),
          ),
        )
        return has ? [ref * apart] : []
      })
      const texts = rows.map((strings) => strings.map((words) => words.join(' ')))
      const numbers = [...rows.keys()].map((row) => row * apart)
      const order = [...forms.keys()]
      const pages = pagesOf(texts, numbers)
      const words = (isReversed ? order.toReversed() : order).map((offset) => {
        return { offset, cursors: cursorsIn(pages, (own) => fits(own, offset)) }
      })
      return JSON.stringify(rowsOf(words)) === JSON.stringify(expected)
    },
  )
  fc.assert(property, { seed: pickSeed(), numRuns: 2000 })
})

t.test('the rows of a word that stands for several are counted in parts', async (t) => {
  const rows = Array.from({ length: 10 }, (_, n) => n * windowRows)
  const texts = rows.map((_, n) => [`ab${n} b`])
  const pages = pagesOf(texts, rows).filter((page) => formOf(page.keyOf(0)).startsWith('a'))
  const postings = pages.map((page) => ({ page, group: 0, count: 1 }))
  const list = { postings, entries: rows.length, gone: new Set<number>() }
  const scores = new WordScores({
    sums: { rows: rows.length, length: 2 * rows.length },
    has: undefined,
    kept: undefined,
    dropped: [],
    most: rows.length,
    table: 5,
  })
  let parts = 0
  const adding = scores.add([{ isPrefix: true, forms: [{ list, weight: 1 }] }])
  while (adding.next().done !== true) parts++
  t.equal(parts, rows.length)
  while (scores.next());
  const found = scores.finish()
  t.strictSame(
    [...found.refs],
    rows.map((row) => row * tableSpan + 5),
  )
  t.equal(new Set(found.scores).size, 1)
})

/** A page for each word, of rows of those numbers. */
function pagesOf(texts: readonly (readonly string[])[], numbers: readonly number[]): WordPage[] {
  const found = newKeys()
  for (const [n, strings] of texts.entries()) {
    const words = wordsOf([{ path: ['a'], weight: 1 }], () => strings)
    addWordKeys(words, (numbers[n] as number) * tableSpan + 5, found)
  }
  const entries = sortWords(found)
  const { keys } = entries
  const pages: WordPage[] = []
  for (let from = 0, to = 1; from < keys.length; from = to++) {
    const key = keys[from]
    while (keys[to] === key) to++
    if (typeof key === 'number') continue
    pages.push(EntryPage.of(sliceEntries(entries, from, to)).words as WordPage)
  }
  return pages
}

function cursorsIn(pages: readonly WordPage[], fits: (form: string) => boolean): WordCursor[] {
  const chosen = pages.filter((page) => fits(formOf(page.keyOf(0))))
  return chosen.map((page) => new WordCursor(page, 0))
}

function rowsOf(words: ConstructorParameters<typeof PhraseSearch>[0]): number[] {
  const rows: number[] = []
  const parts = new PhraseSearch(words, undefined).find(rows)
  while (parts.next().done !== true);
  return rows
}
