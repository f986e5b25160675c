import t from 'tap'
import { findHeadings, headingsIn, headingsOf, lastAt } from '../../../src/flow/steps/headings.js'
import { longest } from '../../../src/turns.js'
import { countTurns } from '../../fixtures/turns.js'
import { documentOf } from './knowledge.js'

const found = (...lines: string[]) => [...headingsIn(lines.join('\n'))].map(({ text }) => text)

t.test('lines with number signs are headings', async (t) => {
  for (const [lines, expected] of [
    [
      ['# One', '', 'Text.', '', '### Three', 'Text.'],
      ['One', 'Three'],
    ],
    [['', '   ##\tTwo ##  '], ['Two']],
    [['\ufeff# One'], ['One']],
    [
      ['# One', '## Two', '', 'Text.'],
      ['One', 'Two'],
    ],
    [['---', 'title: x', '---', '# One', '', 'Text.'], ['One']],
    [
      ['# C#', '', '# #1 of ten', '', '# *One* `two`'],
      ['C#', '#1 of ten', '*One* `two`'],
    ],
    [['# 一', '文。'], ['一']],
    [
      ['# One', '- a', '', '# Two', '> a', '', '# Three', '`a`'],
      ['One', 'Two', 'Three'],
    ],
    [[`# ${'a'.repeat(998)}`], ['a'.repeat(998)]],
  ] as const) {
    t.strictSame(found(...lines), expected, lines.join('|'))
  }
})

t.test('other lines are not', async (t) => {
  for (const lines of [
    ['#One', '', '####### Seven', '', '    # code', '', '#', '', '## ##'],
    ['Text', '# in a paragraph', 'goes on.'],
    [`# ${'a'.repeat(999)}`],
    ['#!/bin/sh', '', '# Build it', '', 'make'],
    ['# Copyright', '# All rights reserved', '', '# License', '#', '# none', '', '# a', '# b'],
    ['# The limit', 'limit = 7', '', '# The port', 'PORT=80', '', '# Loads', 'import os'],
    ['```', '', '# One', '', '```'],
    ['~~~~ sh', '', '# One', '', '~~~', '', '# Two', '', '```', '', '# Three', ''],
    ['$ make', '# a comment', '$ make install'],
  ]) {
    t.strictSame(found(...lines), [], lines.join('|'))
  }
})

t.test('a fence ends where one of its kind comes, at least as long', async (t) => {
  const lines = ['```js', '', '# a', '', '``` js', '', '# b', '', '````', '', '# One', '', '``` a`']
  t.strictSame(found(...lines, '', '# Two'), ['One', 'Two'])
})

t.test('any line ends count, and places are those of the text', async (t) => {
  for (const end of ['\n', '\r\n', '\r']) {
    const text = ['Text.', '', ' # One', '', 'Text.'].join(end)
    const start = text.indexOf(' #')
    t.strictSame([...headingsIn(text)], [{ start, end: start + 6, text: 'One' }])
  }
})

t.test('a place stands under the last heading before it', async (t) => {
  const text = 'Text.\n\n# One\n\nText.\n\n## Two\n\nText.\n\n# Three\n\nText.'
  const document = documentOf({ text })
  const headings = headingsOf(document)
  const at = (place: number) => lastAt(headings, place)?.text
  t.equal(at(0), undefined)
  t.equal(at(text.indexOf('# One') - 1), undefined)
  for (const name of ['One', 'Two', 'Three']) {
    const place = text.search(new RegExp(`#+ ${name}`))
    t.equal(at(place), name)
    t.equal(at(place + 12), name)
  }
  t.equal(at(text.length), 'Three')
  t.equal(headingsOf(document), headings, 'looked for once')
  Object.assign(document, { text: '# Another\n\nText.' })
  t.equal(headingsOf(document)[0]?.text, 'Another')
})

t.test('a long text takes no longer than its length', async (t) => {
  const spaces = ' '.repeat(1_000_000)
  const since = performance.now()
  t.strictSame(found(`# ${spaces}a`, '', `${spaces}#`, '', '#'.repeat(1_000_000), '', '# One'), [
    'One',
  ])
  t.equal(found(...Array.from({ length: 100_000 }, (_, n) => `# ${n}\n`)).length, 100_000)
  t.ok(performance.now() - since < 5000)
})

t.test('headings are found so that others have their turn, or are told to stop', async (t) => {
  const { ms } = longest
  longest.ms = -1
  t.teardown(() => {
    longest.ms = ms
  })
  const text = `# One\n\n${'1\n'.repeat(50_000)}\n## Two\n\nText.`
  const document = documentOf({ text })
  const counted = countTurns()
  await findHeadings(document, new AbortController().signal)
  const turns = counted()
  t.ok(turns >= 100, `${turns} turns`)
  const found = headingsOf(document)
  t.strictSame(found, [...headingsIn(text)])
  await findHeadings(document, new AbortController().signal)
  t.equal(headingsOf(document), found, 'they are looked for once')
  const aborted = AbortSignal.abort(new Error('enough'))
  await t.rejects(findHeadings(documentOf({ text }), aborted), { message: 'enough' })
})
