// keep.verify() while others write: what it sees is one moment, so nothing is amiss.

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { backends, openStore, triplesMessage } from '../fixtures/stores.js'
import type { Finding } from '../../src/verify/finding.js'

for (const [engine, createBackend] of backends) {
  t.test(`${engine}: a store that is written to has no errors`, async (t) => {
    const keep = await openStore(t, createBackend(t))
    await keep.objects.defineSchema({
      name: 'thing',
      fields: { id: { type: 'integer', required: true }, n: { type: 'number' } },
      indexes: ['n'],
    })
    let isDone = false
    let writes = 0
    const work = (async () => {
      for (let n = 0; !isDone; n++) {
        const ref = { user: 'u', id: `core ${n % 3}` }
        await keep.knowledge.write(ref, [triplesMessage(`m${n}`)], {
          mode: n % 4 === 0 ? 'replace' : 'append',
          index: n % 8 === 0,
        })
        await keep.objects.import({
          schema_name: 'thing',
          metadata: { id: `b${n}`, user: 'u', collection: 'c' },
          values: [
            { id: n % 50, n },
            { id: (n % 50) + 100, n: n / 2 },
          ],
        })
        if (n % 5 === 0) await keep.objects.delete('c', (n * 7) % 50)
        await keep.flows.load('default', { id: `d${n}`, user: 'u', content: 'a text' })
        writes++
        await turn()
      }
    })()
    work.catch(() => (isDone = true))
    const errors: Finding[] = []
    for (let round = 0; round < 4; round++) {
      const before = writes
      while (writes < before + 2 && !isDone) await turn()
      for await (const finding of keep.verify({ deep: round % 2 === 0 })) {
        if (finding.severity === 'error') errors.push(finding)
      }
    }
    isDone = true
    await work
    t.strictSame(errors, [])
    t.ok(writes > 8, `${writes} rounds of writes`)
  })
}

t.test(
  'verify() ends with its signal, tells its progress, and refuses what is no option',
  async (t) => {
    const [[, createBackend]] = backends as [(typeof backends)[0]]
    const keep = await openStore(t, createBackend(t))
    await keep.knowledge.write({ user: 'u', id: 'c' }, [triplesMessage('m')])
    const reason = new Error('enough')
    const controller = new AbortController()
    controller.abort(reason)
    const { signal } = controller
    await t.rejects(drained(keep.verify({ signal })), reason)
    const seen: number[] = []
    await drained(keep.verify({ deep: true, onProgress: ({ entries }) => seen.push(entries) }))
    t.ok((seen.at(-1) ?? 0) > 0)
    t.throws(() => keep.verify({ deap: true } as never), TypeError)
    t.throws(() => keep.verify({ deep: 1 } as never), TypeError)
    await keep.close()
    await t.rejects(drained(keep.verify()), { code: 'LK_CLOSED' })
  },
)

async function drained(findings: AsyncIterable<Finding>): Promise<void> {
  for await (const _ of findings);
}
