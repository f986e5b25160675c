// One message as large as maxMessageBytes allows, in chunks of 16 KiB against chunks of 1 MiB: a
// decoder that starts again at every chunk needs 64 times as long.

import { MemoryBackend } from '../adapters/memory.js'
import { CoreScanner } from '../src/codec/scanner.js'
import { createLorekeep } from '../src/index.js'
import { check, interleave, median, MiB, report, seconds, spread } from './measure.js'
import { createLargeMessage, cut, ref, sha256 } from './stream.js'

const rounds = 11

for (const kind of ['triples', 'embeddings'] as const) {
  const message = createLargeMessage(kind, 64 * MiB)
  const digest = sha256(message)
  check(message.length === 64 * MiB, 'the length of the message')
  const small = cut(message, 16 * 1024)
  const large = cut(message, MiB)

  const scan = (chunks: readonly Buffer[]) => async () => {
    let bytes = 0
    const scanner = new CoreScanner({ copy: (_, from, to) => void (bytes += to - from) }, ref)
    const time = await seconds(() => {
      for (const chunk of chunks) scanner.push(chunk)
      scanner.finish()
    })
    check(scanner.messages === 1 && bytes === message.length, 'what the scanner let through')
    return time
  }
  const load = (chunks: readonly Buffer[]) => async () => {
    await using lorekeep = await createLorekeep({ backend: new MemoryBackend() })
    return await seconds(async () => {
      const summary = await lorekeep.knowledge.import(ref, chunks)
      check(summary.messages === 1 && summary.digest === digest, 'the digest of the import')
    })
  }

  for (const [name, measure] of [
    ['scan', scan],
    ['import to memory', load],
  ] as const) {
    const times = await interleave(rounds, { small: measure(small), large: measure(large) })
    const milliseconds = (values: readonly number[]) => `${(median(values) * 1000).toFixed(0)} ms`
    report({
      scenario: `${name}, one 64 MiB message of ${kind}, 16 KiB chunks`,
      peer: '1 MiB chunks (time)',
      ours: milliseconds(times.small),
      theirs: milliseconds(times.large),
      ...spread(times.small.map((time, n) => time / (times.large[n] as number))),
      unit: 'x',
      target: { most: 1.5 },
    })
  }
}
