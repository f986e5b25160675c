// Reading on where an engine cannot read.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError } from '../../src/errors.js'
import { encodeKey } from '../../src/keys.js'
import type { Source } from '../../src/verify/finding.js'
import { Reading } from '../../src/verify/reading.js'
import { Report } from '../../src/verify/report.js'

const damaged = () => new LorekeepError('LK_STORAGE_CORRUPT', 'a block')
const hex = (key: Uint8Array) => Buffer.from(key).toString('hex')

t.test('a stretch of keys that cannot be read ends, where its bounds are alike, too', async (t) => {
  let scans = 0
  const source: Source = {
    get: () => Promise.reject(damaged()),
    getMany: () => Promise.reject(damaged()),
    scan: () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => {
          if (++scans > 10_000) throw new Error('it does not end')
          throw damaged()
        },
      }),
    }),
  }
  const long = encodeKey('latest', 'alice', 'a document with a long name '.repeat(4))
  for (const range of [
    { gte: long, lte: long },
    { gte: encodeKey('a'), lte: encodeKey('b') },
    {},
  ]) {
    const report = new Report({ deep: true })
    const reading = new Reading('flows', source, report)
    let entries = 0
    for await (const _ of reading.entries(range)) entries++
    t.equal(entries, 0)
    t.ok([...report.take()].length > 0, 'it is told')
  }
})

t.test(
  'what lies before, between and behind stretches of damage is read, and each is told',
  async (t) => {
    const count = 600
    const storage = await new MemoryBackend().open('flows')
    const numbers = new Map<string, number>()
    for (let n = 0; n < count; n++) {
      const key = encodeKey('a', n)
      numbers.set(hex(key), n)
      await storage.write([{ type: 'put', key, value: Buffer.from(String(n)) }])
    }
    type Bad = (n: number) => boolean
    const never: Bad = () => false
    const damages: readonly (readonly [string, Bad, Bad])[] = [
      ['nothing', never, never],
      ['values', (n) => n % 7 === 0, never],
      ['the first keys', never, (n) => n < 100],
      ['keys in the middle', never, (n) => n > 200 && n < 300],
      ['two stretches of keys', never, (n) => (n > 20 && n < 30) || (n > 400 && n < 403)],
      ['the last keys', never, (n) => n > 500],
      ['one key', never, (n) => n === 256],
      ['keys and values', (n) => n % 50 === 0, (n) => n > 200 && n < 300],
      ['all', () => true, () => true],
    ]
    for (const [name, isValueBad, isKeyBad] of damages) {
      let scans = 0
      const check = (key: Uint8Array, keysOnly: boolean) => {
        const n = numbers.get(hex(key)) as number
        if (isKeyBad(n) || (!keysOnly && isValueBad(n))) throw damaged()
      }
      const get = async (key: Uint8Array) => {
        check(key, false)
        return storage.get(key)
      }
      const source: Source = {
        get,
        getMany: (keys) => Promise.all(keys.map(get)),
        async *scan(range) {
          if (++scans > 20_000) throw new Error(`${name}: it does not end`)
          for await (const page of storage.scan(range)) {
            // An engine that fails within a page gives none of it.
            for (const { key } of page) check(key, range.keysOnly === true)
            yield page
          }
        },
      }
      for (const keysOnly of [false, true]) {
        const report = new Report({ deep: true })
        const found: number[] = []
        for await (const { key } of new Reading('flows', source, report).entries({ keysOnly })) {
          found.push(numbers.get(hex(key)) as number)
        }
        const readable = [...numbers.values()].filter(
          (n) => !isKeyBad(n) && (keysOnly || !isValueBad(n)),
        )
        t.strictSame(found, readable, `${name}, ${keysOnly ? 'keys' : 'entries'}`)
        t.equal([...report.take()].length > 0, readable.length < count, `${name} is told`)
      }
    }
  },
)
