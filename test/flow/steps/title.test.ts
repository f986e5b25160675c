import t from 'tap'
import { firstHeading, titleOf } from '../../../src/flow/steps/title.js'
import { vocabulary } from '../../../src/flow/steps/vocabulary.js'
import { literal, uri } from './knowledge.js'

const prose = 'It was a bright cold day in April, and the clocks were striking thirteen.'

t.test('a first line that is a heading is the title', async (t) => {
  for (const [title, lines] of [
    // Markdown
    ['A visit', ['# A visit', '', prose]],
    ['A visit', ['', '  ', '## A visit ##', prose]],
    ['What is to be done?', ['# What is to be done?', '', prose]],
    ['a visit, alone', ['# a visit, alone']],
    ['A visit', ['A visit', '=======', prose]],
    ['a visit to them.', ['a visit to them.', '---', prose]],
    // a line by itself
    ['News from Nowhere', ['News from Nowhere', '', prose]],
    ['News from Nowhere', ['\ufeff   News  from\tNowhere  '.replace('\t', ' '), '', '', prose]],
    ['NEWS FROM NOWHERE', ['          NEWS FROM NOWHERE', '', 'by', '', 'Morris', '', prose]],
    [
      'Frankenstein; or, The Modern Prometheus',
      ['Frankenstein; or, The Modern Prometheus', '', prose],
    ],
    ['Frankenstein: a story', ['Frankenstein: a story', '', prose]],
    ['2001: A Space Odyssey', ['2001: A Space Odyssey', '', prose]],
    ['1,000 Places to See', ['1,000 Places to See', '', prose]],
    ['eBay and others', ['eBay and others', '', prose]],
    ['C++', ['C++', '', prose]],
    ['Dune (novel)', ['Dune (novel)', '', prose]],
    ['“Heroes”', ['“Heroes”', '', prose]],
    ['Shopping list', ['Shopping list', '', '- eggs', '- milk']],
    ['Über die Linie', ['Über die Linie', '', prose]],
    ['¿Qué es el arte', ['¿Qué es el arte', '', prose]],
    [
      'The Project Gutenberg eBook of News from Nowhere, by William Morris',
      ['\ufeffThe Project Gutenberg eBook of News from Nowhere, by William Morris', '', prose],
    ],
    // a line above a sentence
    ['Barry Wesson', ['Barry Wesson', 'Barry Jarvis Wesson is an American former outfielder.']],
    [
      'Barry Wesson',
      ['Barry Wesson', 'Barry Jarvis Wesson (born April 6, 1977 in', 'Tuscaloosa) is.'],
    ],
    ['History of the club', ['History of the club', `The club is old. ${prose}`]],
    [
      'The Sun Rising',
      ['The Sun Rising', 'Busy old fool, unruly Sun,', 'Why dost thou thus', 'Call?'],
    ],
    ['Warsaw', ['Warsaw', '“Warsaw is the capital,” said Ann.']],
    // scripts without capitals
    ['新闻', ['新闻', '', '这是一个故事。']],
    ['乌有乡消息', ['乌有乡消息', '威廉·莫里斯写了这本关于未来社会的小说。']],
    ['ユートピアだより', ['ユートピアだより', '', 'ある夜、友人たちが話していた。']],
    ['「雪国」', ['「雪国」', '', '国境の長いトンネルを抜けると雪国であった。']],
    ['حول الفن', ['حول الفن', '', 'هل هذا هو الفن؟']],
    ['समाचार', ['समाचार', '', 'यह एक कहानी है।']],
  ] as const) {
    for (const end of ['\n', '\r\n']) t.equal(firstHeading(lines.join(end)), title, lines[0])
  }
})

t.test('any other first line is not', async (t) => {
  for (const lines of [
    [''],
    ['\n \n'],
    ['News from Nowhere'],
    ['News from Nowhere', ''],
    [prose],
    [prose, '', prose],
    // wrapped prose
    ['Ellen lives in a house by the Thames with', 'Dick. They row on the river.'],
    ['Up at the League, says a friend, there had been', 'One night a brisk discussion.'],
    ['The Strange Case Of Doctor Jekyll and', 'Mr. Hyde, by Robert Louis Stevenson', '', prose],
    ['Ada met', 'Bob. They spoke of numbers.'],
    ['The Sun', 'is bright. The moon is not, says everybody who has seen them both.'],
    ['The river is', 'Ellen’s. She rows.'],
    // other ends
    ['A house by the Thames.', '', prose],
    ['Is it true?', '', prose],
    ['“It is true!”', '', prose],
    ['Dear Ann,', '', prose],
    ['We need:', '', prose],
    ['And then –', '', prose],
    ['To be continued…', '', prose],
    ['He came home. She left', '', prose],
    ['and so it went', '', prose],
    // poems
    ['Busy old fool, unruly Sun,', 'Why dost thou thus,', 'Through windows call on us?'],
    [
      'I wandered lonely as a cloud',
      'That floats on high o’er vales and hills,',
      'And fluttering.',
    ],
    ['An old silent pond', 'A frog jumps into the pond—', 'Splash! Silence again.'],
    ['Because I could not stop for Death –', 'He kindly stopped for me –'],
    ['O Rose thou art sick', 'The invisible worm,', 'That flies in the night.'],
    // lists
    ['- Eggs', '- Milk', '', prose],
    ['* Eggs', '', prose],
    ['• Eggs', '', prose],
    ['1. Eggs', '', '2. Milk', '', prose],
    ['a) Eggs', '', prose],
    ['Eggs', 'Milk', 'Bread'],
    ['Eggs', '', 'Milk', '', 'Bread'],
    ['Eggs', '1. They are boiled.'],
    // letters, headers, transcripts, addresses
    ['From: Ann <ann@example.org>', 'To: Ben', 'Subject: Lunch', '', prose],
    ['Subject: Lunch', 'From: Ann', '', prose],
    ['Title: News from Nowhere', 'Author: William Morris', '', prose],
    ['ANN: Hello', '', 'BEN: Hello, Ann.', ''],
    ['John Smith', '12 High Street', 'London', '', prose],
    ['12 March 2024', '', prose],
    ['1984', '', prose],
    ['https://example.org/visit', '', prose],
    ['See https://example.org', '', prose],
    ['ann@example.org', '', prose],
    ['example.org', '', prose],
    // code, data and markup
    ['#!/usr/bin/env node', '', prose],
    ['#include <stdio.h>', '', prose],
    ['# Copyright 2020', '# All rights reserved', '', prose],
    ['# The limit', 'limit = 7'],
    ['import os', '', 'print("It is.")'],
    ['Main(String[] args)', '', prose],
    ['DEFAULT = 7', '', prose],
    ['// A comment', '', prose],
    ['/* A comment', '', prose],
    ['"use strict";', '', prose],
    ['{', '  "a": 1', '}'],
    ['SELECT * FROM things', '', prose],
    ['Name,Age,City', '', prose],
    ['Name\tAge', '', prose],
    ['| Name | Age |', '| --- | --- |', '', prose],
    ['<!DOCTYPE html>', '', prose],
    ['<p>News', '', prose],
    ['---', 'title: News', '---', '', prose],
    ['***', '', prose],
    ['> A quote', '', prose],
    ['[1] Note', '', prose],
    ['C:\\letters', '', prose],
    ['SNAKE_CASE', '', prose],
    // scripts without capitals
    ['这是一个故事。', '', '第二段。'],
    ['从前有一个国王，', '', '他有一个女儿。'],
    ['床前明月光，', '疑是地上霜。'],
    ['ある夜、', '', '友人たちが話していた。'],
    // too long
    [`${'Nowhere '.repeat(12)}here`, '', prose].map((line) => line.padEnd(101, 'x')),
  ]) {
    t.equal(firstHeading(lines.join('\n')), undefined, lines.join('|'))
  }
})

t.test('a heading that nothing marks has up to 100 characters', async (t) => {
  t.equal(firstHeading(`${'A'.repeat(100)}\n\n${prose}`)?.length, 100)
  t.equal(firstHeading(`${'A'.repeat(101)}\n\n${prose}`), undefined)
  t.equal(firstHeading(`${'A'.repeat(1000)}\n===\n\n${prose}`)?.length, 1000)
  t.equal(firstHeading(`${'A'.repeat(1001)}\n===\n\n${prose}`), undefined)
})

t.test(
  'a title that was given comes before one of the metadata, and that before a heading',
  async (t) => {
    const base = 'http://trustgraph.ai/'
    const { dctermsTitle, dcTitle, name, label, language } = vocabulary
    const said = (s: string, p: string, o: string, ln?: string) => ({
      s: uri(s),
      p: uri(p),
      o: { ...literal(o), ...(ln !== undefined && { ln }) },
    })
    const text = `A heading\n\n${prose}`
    const title = (metadata: ReturnType<typeof said>[], fields: object = {}) =>
      titleOf({ id: 'urn:x', metadata, text, ...fields }, base)
    t.equal(title([]), 'A heading')
    t.equal(title([], { text: prose }), undefined)
    t.equal(title([said('urn:x', label, 'Said')], { title: 'Given' }), 'Given')
    const all = [label, name, dcTitle, dctermsTitle].map((p) => said('urn:x', p, `by ${p}`))
    for (let n = all.length; n > 0; n--) t.equal(title(all.slice(0, n)), all[n - 1]?.o.v)
    t.equal(title([said('urn:y', label, 'Of another')]), 'A heading')
    t.equal(title([{ ...said('urn:x', label, ''), o: uri('urn:title') }]), 'A heading')
    for (const none of ['', ' \n', 'a'.repeat(1001)]) {
      t.equal(title([said('urn:x', label, none)]), 'A heading', none.slice(0, 3))
    }
    t.equal(title([said('urn:x', label, ' As  it is ')]), ' As  it is ')
    for (const s of ['My notes', 'http://trustgraph.ai/d/My%20notes']) {
      t.equal(title([said(s, label, 'Said')], { id: 'My notes' }), 'Said', s)
    }
    // In the language of the document, where one is.
    const titles = [said('urn:x', dctermsTitle, 'War', 'en'), said('urn:x', name, 'Krieg', 'de')]
    t.equal(title(titles), 'War')
    t.equal(title([...titles, said('urn:x', language, 'de')]), 'Krieg')
    t.equal(title([...titles, said('urn:x', language, 'fr')]), 'War')
  },
)
