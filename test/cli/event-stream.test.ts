import t from 'tap'
import { readEventStream } from '../../src/cli/access/event-stream.js'

async function* pieces(...parts: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part)
}

async function read(...parts: readonly Uint8Array[]): Promise<string[]> {
  const found: string[] = []
  for await (const data of readEventStream(pieces(...parts))) found.push(data)
  return found
}

const stream = Buffer.from(
  ': hello\n\nid: 1\nevent: state\ndata: {"a":"é"}\n\ndata:two\r\ndata:  lines\r\n\r\nevent: none\n\ndata: cut',
)

t.test('the data of events is read, wherever the stream is cut', async (t) => {
  const expected = ['{"a":"é"}', 'two\n lines']
  for (let at = 0; at <= stream.length; at++) {
    t.strictSame(await read(stream.subarray(0, at), stream.subarray(at)), expected, `at ${at}`)
  }
})
