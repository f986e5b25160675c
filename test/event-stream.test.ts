import fc from 'fast-check'
import t from 'tap'
import { readEventStream } from '../src/event-stream.js'
import { pickSeed } from './fixtures/random.js'

async function* pieces(...parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts
}

async function read(...parts: readonly Uint8Array[]): Promise<string[]> {
  const found: string[] = []
  for await (const data of readEventStream(pieces(...parts))) found.push(data)
  return found
}

const stream = Buffer.from(
  '\ufeff: hello\n\nid: 1\nevent: state\ndata: {"a":"é😀"}\n\ndata:two\r\ndata:  lines\r\n\r\n' +
    'event: none\n\ndata: three\r\r: alive\n\ndata\n\ndatum: 1\n\ndata: cut',
)
const expected = ['{"a":"é😀"}', 'two\n lines', 'three', '']

t.test('the data of events is read, wherever the stream is cut', async (t) => {
  for (let at = 0; at <= stream.length; at++) {
    t.strictSame(await read(stream.subarray(0, at), stream.subarray(at)), expected, `at ${at}`)
  }
  t.strictSame(await read(...[...stream].map((byte) => Uint8Array.of(byte))), expected)
})

t.test('any events are read as they were sent, in any pieces', async (t) => {
  const aText = fc.string({ unit: fc.constantFrom('a', ' ', ':', 'é', '😀', 'data', '\ufeff') })
  const anEnd = fc.constantFrom('\n', '\r\n', '\r')
  const anEvent = fc.record({
    lines: fc.array(aText, { minLength: 1 }),
    end: anEnd,
    comment: fc.boolean(),
  })
  const property = fc.asyncProperty(
    fc.array(anEvent),
    fc.array(fc.nat(400)),
    async (events, cuts) => {
      const text = events.map(({ lines, end, comment }) =>
        [...(comment ? [': alive'] : []), ...lines.map((line) => `data: ${line}`), '', ''].join(
          end,
        ),
      )
      const bytes = Buffer.from(text.join(''))
      const places = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const parts = places.slice(1).map((to, n) => bytes.subarray(places[n], to))
      t.strictSame(
        await read(...parts),
        events.map(({ lines }) => lines.join('\n')),
      )
    },
  )
  await fc.assert(property, { seed: pickSeed(), numRuns: 300 })
})
