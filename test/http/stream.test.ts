// Answers that are made while they are read leave time to others.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createFetchHandler } from '../../src/http/index.js'
import type { SparqlEngine } from '../../src/sparql/index.js'
import { longest } from '../../src/turns.js'
import { countTurns } from '../fixtures/turns.js'
import { as, coreMessages, openStore, send, serve } from './fixtures/serving.js'
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

/** An engine whose answers are this iterator. */
function engineOf(body: Partial<AsyncIterator<Uint8Array>>): SparqlEngine {
  const iterable = { [Symbol.asyncIterator]: () => body as AsyncIterator<Uint8Array> }
  return {
    isInstalled: () => true,
    query: () => Promise.reject(new Error('nobody asks for it')),
    execute: () => Promise.resolve({ type: 'answer', contentType: 'text/csv', body: iterable }),
  }
}

const question = '/api/v1/sparql?query=x&user=alice'

t.test('a source that failed is not asked to end, which it may never do', async (t) => {
  let returns = 0
  const sparql = engineOf({
    next: () => Promise.reject(new Error('the source failed')),
    return: () => {
      returns++
      return new Promise(() => undefined)
    },
  })
  const { url, errors } = await serve(t, { sparql })
  const { status } = await send(`${url}${question}`, { headers: as('alice') })
  t.equal(status, 500)
  t.equal(returns, 0)
  t.match(errors, [{ message: 'the source failed' }])
})

for (const [what, end] of [
  ['throws', () => assert.fail('it ends badly')],
  ['rejects', () => Promise.reject(new Error('it ends badly'))],
  ['gives no promise', () => undefined],
] as const) {
  t.test(`a slow reader is told of as one where the source's end ${what}`, async (t) => {
    const sparql = engineOf({
      next: () => Promise.resolve({ done: false, value: new Uint8Array(2 ** 20) }),
      return: end as () => Promise<never>,
    })
    const { port, answers, errors } = await serve(t, { sparql, exportIdleTimeoutMs: 50 })
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    socket.pause()
    socket.write(`GET ${question} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\n\r\n`)
    await once(socket, 'connect')
    while (answers.length === 0) await turn()
    await answers[0]
    t.match(errors, [{ code: 'LK_HTTP_TIMEOUT' }])
  })
}
