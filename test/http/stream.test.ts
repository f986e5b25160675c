// Answers that are made while they are read leave time to others.

import t from 'tap'
import { createFetchHandler } from '../../src/http/index.js'
import { longest } from '../../src/turns.js'
import { countTurns } from '../fixtures/turns.js'
import { coreMessages, openStore } from './fixtures/serving.js'
import { MemoryBackend } from '../../adapters/memory.js'

t.test(
  'what its reader takes at once, of what is in memory, lets others have their turns',
  async (t) => {
    const { knowledge } = await openStore(t, new MemoryBackend())
    const ref = { user: 'alice', id: 'a' }
    await knowledge.import(ref, coreMessages('a', 'alice', 3000))
    const answer = createFetchHandler({ knowledge, authenticate: 'none' })
    const before = longest.ms
    longest.ms = -1
    t.teardown(() => (longest.ms = before))
    for (const [accept, dialect] of [
      ['application/octet-stream', ''],
      ['application/octet-stream', '&dialect=trustgraph-2'],
      ['application/n-triples', ''],
    ] as const) {
      const url = `http://localhost/api/v1/export-core?id=a&user=alice${dialect}`
      const turnsSince = countTurns()
      const { body } = await answer(new Request(url, { headers: { accept } }))
      let chunks = 0
      for await (const _ of body!) chunks++
      const turns = turnsSince()
      t.ok(chunks > 2)
      t.ok(turns >= chunks, `${accept}${dialect}: ${turns} turns, ${chunks} chunks`)
    }
  },
)
