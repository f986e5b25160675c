// Cutting a novel of 10 MB into chunks: as it is (CRLF, wrapped, short paragraphs), with every
// paragraph on a line of its own, and as one paragraph, where no end of a chunk is found without
// Intl.Segmenter; then the last of them with a letter that makes it a string of two-byte units.

import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { split } from '../src/flow/steps/splitter.js'
import { check, compareRates, interleave, report, seconds } from './measure.js'

const file = resolve('../shared/data/news-from-nowhere.txt')
const options = { size: 2000, overlap: 100 }
const scenario = 'chunk text'
const promised = 50e6

if (existsSync(file)) {
  const novel = readFileSync(file, 'latin1').repeat(23)
  const line = flat(novel.replace(/\s+/g, ' '))
  const texts = {
    'as it is': flat(novel),
    unwrapped: flat(novel.replace(/\r\n(?!\r\n)/g, ' ')),
    'one paragraph': line,
    'not Latin-1': `${line.slice(0, -1)}\u20ac`,
  }
  const contestants = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, () => measure(text)]),
  )
  const times = await interleave(7, contestants)
  for (const [name, text] of Object.entries(texts)) {
    const ours = times[name] as number[]
    const { length } = text
    const theirs = ours.map(() => length / promised)
    const names = { scenario: `${scenario}, ${name}`, peer: 'what is promised' }
    report(compareRates(names, length, ours, theirs, { least: 1 }))
  }
} else {
  report({ scenario, peer: 'what is promised', skipped: 'no ../shared/data/news-from-nowhere.txt' })
}

async function measure(text: string): Promise<number> {
  let units = 0
  const time = await seconds(() => {
    for (const { start, end } of split(text, options)) units += end - start
  })
  check(units > 0.9 * text.length && units < 1.1 * text.length, 'what the chunks cover')
  return time
}

/** Not a rope, nor a slice of something: what a decoder gives. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
