// Words of a part are found by what some of them begin with, and by themselves.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { BlockCache } from '../../../src/graph/index/block-cache.js'
import { beginningCount, beginningStep, pieceBytes } from '../../../src/graph/index/layout.js'
import { Part } from '../../../src/graph/index/part.js'
import { PartWriter } from '../../../src/graph/index/part-writer.js'
import { columnsOf } from '../../../src/graph/index/passage-columns.js'
import { withBlocks } from '../../../src/graph/miss.js'
import { WordListWriter } from '../../../src/graph/words/word-list.js'
import { Turns } from '../../../src/turns.js'

/** A part of one passage that has these words; they are asked for in order of their bytes. */
async function partOf(words: readonly string[]) {
  const storage = await new MemoryBackend().open('slices')
  const writer = new PartWriter(storage, { id: 'work', number: 0 }, 0, new Turns(undefined))
  const where = {
    sources: Uint32Array.of(0, 0, 0, 0, 0),
    places: Uint32Array.of(0, 0, 0),
    numbers: Uint32Array.of(0),
  }
  await writer.places(where)
  const columns = columnsOf(() => new Uint32Array(1))
  const list = new WordListWriter()
  const record = await writer.passages(where, columns, async (take) => {
    for (const word of words) {
      list.passage(0, { title: 0, heading: 0, text: 1 })
      list.gap(0)
      await take(Buffer.from(word), list.take())
    }
  })
  await writer.settle()
  const { passages } = new Part(new BlockCache(storage, 1), record)
  if (passages === undefined) throw new Error('there are no passages')
  return passages
}

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

async function agrees(t: Test, all: readonly string[], others: readonly string[]) {
  const words = [...new Set(all)].sort(byBytes)
  const part = await partOf(words)
  const [wrong, wrongRanges]: string[][] = [[], []]
  for (const asked of [...words, ...others]) {
    const found = await withBlocks(() => part.find(Buffer.from(asked)))
    if (found !== words.indexOf(asked)) wrong?.push(asked)
    const [from, to] = await withBlocks(() => part.beginningWith(Buffer.from(asked)))
    const those = words.filter((word) => word.startsWith(asked))
    if (words.slice(from, to).join() !== those.join()) wrongRanges?.push(asked)
  }
  t.strictSame([wrong, wrongRanges], [[], []])
}

t.test('each word is found, and what begins so, however alike words begin', async (t) => {
  const numbers = Array.from({ length: 700 }, (_, n) => `${n}`)
  const alike = numbers.map((n) => `beginning-of-many-words-${n}`)
  // Of sixteen bytes, where the beginning that is kept ends, and of one more or less.
  const short = [
    'b',
    'beginning-of-man',
    'beginning-of-ma',
    'beginning-of-many',
    'zürich',
    '知识库',
  ]
  const absent = [
    '',
    'a',
    'beginning',
    'beginning-of-mao',
    'beginning-of-many-',
    '99x',
    'é',
    '\uffff',
  ]
  await agrees(t, [...numbers, ...alike, ...short], absent)
})

t.test('so it is for any number of words', async (t) => {
  for (const count of [1, 2, 31, 32, 33, 34, 64, 65, 66]) {
    const words = Array.from({ length: count }, (_, n) => `word${String(n).padStart(3, '0')}`)
    await agrees(t, words, ['', 'v', 'word', 'word0', 'word01', 'word03x', 'x'])
  }
})

t.test(
  'the beginnings of a part take no more than a piece, nor much of what its words take',
  async (t) => {
    for (const count of [0, 1, 32, 33, 1000, 32_768, 500_000, 100_000_000]) {
      t.ok(16 * beginningCount(count) < pieceBytes, `${count}`)
      t.ok(16 * beginningCount(count) <= count / 2, `${count}`)
      t.ok(beginningStep(count) * (beginningCount(count) + 1) >= count, `${count}`)
    }
  },
)
