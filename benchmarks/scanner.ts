// The scanner alone, with two decoders of the same stream for scale. For information: the
// decoders make objects, the scanner does not.

import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { CoreScanner } from '../src/codec/scanner.js'
import { check, compareRates, interleave, MiB, report, seconds } from './measure.js'
import { decodeMultiStream, UnpackrStream } from './peers.js'
import { createStream, cut, ref } from './stream.js'

for (const kind of ['triples', 'embeddings'] as const) {
  const stream = createStream(kind, 160 * MiB)
  const chunks = cut(stream.bytes, 128 * 1024)
  const times = await interleave(5, {
    scanner: async () => {
      let bytes = 0
      const scanner = new CoreScanner({ copy: (_, from, to) => void (bytes += to - from) }, ref)
      const time = await seconds(() => {
        for (const chunk of chunks) scanner.push(chunk)
        scanner.finish()
      })
      check(bytes === stream.bytes.length, 'what the scanner let through')
      check(scanner.messages === stream.messages, 'the messages that the scanner counted')
      return time
    },
    msgpackr: async () => {
      let messages = 0
      const time = await seconds(async () => {
        const decoder = new UnpackrStream({ useRecords: false }).on('data', () => messages++)
        await finished(Readable.from(chunks).pipe(decoder))
      })
      check(messages === stream.messages, 'the messages that msgpackr decoded')
      return time
    },
    msgpack: async () => {
      let messages = 0
      const time = await seconds(async () => {
        for await (const _ of decodeMultiStream(Readable.from(chunks))) messages++
      })
      check(messages === stream.messages, 'the messages that @msgpack/msgpack decoded')
      return time
    },
  })
  const { length } = stream.bytes
  const scenario = `scan ${kind}`
  for (const [peer, theirs] of [
    ['msgpackr UnpackrStream decoding', times.msgpackr],
    ['@msgpack/msgpack decodeMultiStream', times.msgpack],
  ] as const) {
    report(compareRates({ scenario, peer }, length, times.scanner, theirs))
  }
}
