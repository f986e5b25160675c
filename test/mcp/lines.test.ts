import { once } from 'node:events'
import t from 'tap'
import { wholeLines } from '../../src/mcp/lines.js'
import { pickSeed, Random } from '../fixtures/random.js'

/** What comes of chunks, and how many lines were too long. */
async function linesOf(chunks: readonly Uint8Array[], most: number) {
  let refused = 0
  const lines = wholeLines(most, () => refused++)
  const given: Buffer[] = []
  lines.on('data', (line: Buffer) => given.push(line))
  for (const chunk of chunks) lines.write(chunk)
  lines.end()
  await once(lines, 'end')
  return { given: given.map(String), refused }
}

const bytes = (...texts: string[]) => texts.map((text) => Buffer.from(text))

t.test('each line comes in one piece, with its line feed, however it is cut', async (t) => {
  const { given, refused } = await linesOf(bytes('a', 'b\nc\n\n', 'd', '', 'ä\n'), 10)
  t.strictSame(given, ['ab\n', 'c\n', '\n', 'dä\n'])
  t.equal(refused, 0)
})

t.test('what ends without a line feed is no line', async (t) => {
  t.strictSame((await linesOf(bytes('a\nb'), 10)).given, ['a\n'])
})

t.test(
  'a line of the most bytes is given, one of a byte more told once and left out',
  async (t) => {
    const chunks = bytes('abc\n', 'abcd', 'e', 'f', 'g\nab', 'c\n', 'abcd\n')
    t.strictSame(await linesOf(chunks, 4), { given: ['abc\n', 'abc\n'], refused: 2 })
  },
)

t.test('random texts come as they are split at their line feeds', async (t) => {
  const random = new Random(pickSeed())
  for (let round = 0; round < 200; round++) {
    const text = Array.from({ length: random.below(200) }, () =>
      random.pick(['a', 'b', '\n', 'ß']),
    ).join('')
    const whole = Buffer.from(text)
    const chunks: Buffer[] = []
    for (let at = 0; at < whole.length;) {
      const end = at + 1 + random.below(8)
      chunks.push(whole.subarray(at, end))
      at = end
    }
    const most = 1 + random.below(12)
    const lines = text.split(/(?<=\n)/).filter((line) => line.endsWith('\n'))
    // One without its line feed is too long as soon as it is.
    const last = text.slice(text.lastIndexOf('\n') + 1)
    const isShort = (line: string) => Buffer.byteLength(line) <= most
    t.strictSame(await linesOf(chunks, most), {
      given: lines.filter(isShort),
      refused: [...lines, last].filter((line) => !isShort(line)).length,
    })
  }
})
