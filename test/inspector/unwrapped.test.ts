// Lines that somebody's page broke flow on, and others stay.

import t from 'tap'
import { closedUp, unwrapped } from '../../src/inspector/parts/unwrapped.js'

const line = 'He went out of the station, still discontented and'

t.test('lines as wide as a page flow on, and short ones stay', async (t) => {
  t.equal(unwrapped(`${line}\nunhappy.`), `${line} unhappy.`)
  t.equal(unwrapped(`${line}\n\nUnhappy.`), `${line}\n\nUnhappy.`, 'a paragraph')
  const verses = 'How the wind blows,\nhow it goes,\nnobody knows.'
  t.equal(unwrapped(`Song\n\n${verses}`), `Song\n\n${verses}`)
})

t.test('a passage that begins in a line goes on with it', async (t) => {
  t.equal(unwrapped('"If I\ncould but see it!"'), '"If I could but see it!"')
  t.equal(unwrapped('Chapter I\nOn the river'), 'Chapter I\nOn the river', 'a heading')
})

t.test('places hold', async (t) => {
  const text = `a\nb ${line}\r\n${line}\nÄ\n\n${line} \n x`
  t.equal(unwrapped(text).length, text.length)
})

t.test('of several empty lines one stays', async (t) => {
  t.equal(closedUp('CHAPTER I\n\r\n  \n\nUp\n\n  says'), 'CHAPTER I\n\nUp\n\n  says')
  t.equal(closedUp('a\r\n\r\nb'), 'a\r\n\r\nb')
})
