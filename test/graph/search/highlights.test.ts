// Highlights beside a search for each of them, and what many of them cost.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import t from 'tap'
import { Highlighter, type HighlightedQuestion } from '../../../src/graph/search/highlights.js'
import type { WordQuestion } from '../../../src/graph/words/question.js'
import { eachWord } from '../../../src/text/words.js'
import { Turns } from '../../../src/turns.js'
import { pickSeed } from '../../fixtures/random.js'

const seed = pickSeed()

const nothing: WordQuestion = {
  words: [],
  phrases: [],
  joined: [],
  pairs: [],
  apart: [],
  whole: undefined,
  excluded: [],
  languages: ['zxx'],
  signal: new AbortController().signal,
}

function rangesIn(text: string, question: Partial<HighlightedQuestion>) {
  const turns = new Turns(undefined)
  const all = { ...nothing, ...question }
  const whole = all.words.filter(({ isPrefix }) => !isPrefix)
  return new Highlighter(all, new Set(whole.map(({ form }) => form))).in(text, turns)
}

/** The units of a text that are in some range. */
function naive(text: string, { words, phrases }: Pick<HighlightedQuestion, 'words' | 'phrases'>) {
  const all: { form: string; start: number; end: number }[] = []
  eachWord(text, (form, start, end) => all.push({ form, start, end }))
  const units = new Set<number>()
  const sequences = [
    ...phrases,
    ...words.map(({ form, isPrefix }) => ({ forms: [form], isPrefix })),
  ]
  for (const { forms, isPrefix } of sequences) {
    for (let at = 0; at + forms.length <= all.length; at++) {
      const isThere = forms.every((form, n) => {
        const word = all[at + n]?.form ?? ''
        return isPrefix && n === forms.length - 1 ? word.startsWith(form) : word === form
      })
      const [from, to] = [all[at]?.start ?? 0, all[at + forms.length - 1]?.end ?? 0]
      if (isThere) for (let unit = from; unit < to; unit++) units.add(unit)
    }
  }
  return [...units].sort((a, b) => a - b)
}

const form = fc.constantFrom('a', 'ab', 'abc', 'b', 'ba', '知识', '识库')
const sequence = fc.record({
  forms: fc.array(form, { minLength: 1, maxLength: 4 }),
  isPrefix: fc.boolean(),
})
const between = fc.constantFrom(' ', '-', '\n', '。', ' '.repeat(9000), '')

t.test(`what is looked for together is found as one by one (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ form, isPrefix: fc.boolean() }), { maxLength: 2 }),
      fc.array(sequence, { maxLength: 4 }),
      fc.array(fc.tuple(form, between), { maxLength: 30 }),
      async (words, phrases, pieces) => {
        const text = pieces.flat().join('')
        const ranges = await rangesIn(text, { words, phrases })
        const units = ranges.flatMap(([start, end]) => {
          return Array.from({ length: end - start }, (_, n) => start + n)
        })
        // Ascending, and each once.
        assert.deepEqual(units, naive(text, { words, phrases }))
      },
    ),
    { seed, numRuns: 1000 },
  )
})

t.test('of a long text the first thousand are told, and the rest is not read', async (t) => {
  const text = 'the river '.repeat(100_000)
  const words = [{ form: 'river', isPrefix: false }]
  const phrases = [{ forms: ['the', 'river', 'the'], isPrefix: false }]
  t.strictSame((await rangesIn(text, { words })).at(-1), [9994, 9999])
  // One that goes on to the end: it ends nowhere.
  t.strictSame(await rangesIn(text, { phrases }), [[0, text.length - 7]])
})

t.test('thousands of phrases take as long as one', async (t) => {
  const text = 'the river '.repeat(50_000)
  const joined = Array.from({ length: 6000 }, (_, n) => ({
    forms: ['the', 'river', 'the', `r${n}`],
    isPrefix: n % 2 === 0,
  }))
  const began = performance.now()
  t.strictSame(await rangesIn(text, { joined }), [])
  // Each by itself they took a minute.
  t.ok(performance.now() - began < 10_000)
})

t.test('many phrases that end at each word take no memory for each', async (t) => {
  const highlights = new URL('../../../src/graph/search/highlights.js', import.meta.url).href
  const turns = new URL('../../../src/turns.js', import.meta.url).href
  // 60 phrases at each of 200,000 words: as ranges they took a gigabyte.
  const code = `
    const { parentPort } = require('node:worker_threads')
    Promise.all([import('${highlights}'), import('${turns}')]).then(async ([{ Highlighter }, { Turns }]) => {
      const phrases = Array.from({ length: 60 }, (_, n) => ({ forms: Array(n + 2).fill('京京'), isPrefix: false }))
      const highlighter = new Highlighter({ words: [], phrases, joined: [] }, new Set())
      parentPort.postMessage(await highlighter.in('京'.repeat(200_000), new Turns(undefined)))
    })`
  const worker = new Worker(code, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 128 } })
  const [ranges] = (await once(worker, 'message')) as [unknown]
  t.strictSame(ranges, [[0, 200_000]])
})
