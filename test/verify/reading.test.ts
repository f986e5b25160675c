// Reading on where an engine cannot read.

import t from 'tap'
import { LorekeepError } from '../../src/errors.js'
import { encodeKey } from '../../src/keys.js'
import type { Source } from '../../src/verify/finding.js'
import { Reading } from '../../src/verify/reading.js'
import { Report } from '../../src/verify/report.js'

t.test('a stretch of keys that cannot be read ends, where its bounds are alike, too', async (t) => {
  let scans = 0
  const damaged = () => new LorekeepError('LK_STORAGE_CORRUPT', 'a block')
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
