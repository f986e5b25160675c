// A question that is half answered while its cores change.

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { KnowledgeStore } from '../../src/knowledge/types.js'
import { coreProblems } from '../fixtures/problems.js'
import { backends, openStore } from '../fixtures/stores.js'
import { entity, literal, messageOf, setOf, textOf } from './asked.js'

const user = 'u'
const ref = { user, id: 'core' }

// Their index takes several blocks, of which a memory of one byte holds the last.
const contents = ['a', 'b'].map((name) =>
  Array.from({ length: 4000 }, (_, n) => ({
    s: entity(`http://example.org/${name}/${n}`),
    p: entity('p'),
    o: literal(`the object number ${n} of ${name}, and of no other`),
  })),
)
const segments = contents.map((triples) => [messageOf(triples)])

const changes: Readonly<Record<string, (knowledge: KnowledgeStore) => Promise<unknown>>> = {
  'its parts are merged': (knowledge) => knowledge.index({ user }),
  'it is replaced': async (knowledge) => {
    await knowledge.write(ref, [], { mode: 'replace' })
    await knowledge.index({ user })
  },
  'it is deleted': async (knowledge) => {
    await knowledge.delete(ref)
    await knowledge.index({ user })
  },
}

for (const [engine, createBackend] of backends) {
  for (const [change, carryOut] of Object.entries(changes)) {
    t.test(`${engine}: a question goes on with its own version while ${change}`, async (t) => {
      const backend = createBackend(t)
      const { knowledge } = await openStore(t, backend, { graphCacheBytes: 1, indexThreads: 0 })
      for (const messages of segments) {
        await knowledge.write(ref, messages)
        await knowledge.index(ref)
      }
      const graph = knowledge.graph({ user })
      const found: string[] = []
      for await (const triple of graph.match()) {
        found.push(textOf(triple))
        if (found.length !== 1000) continue
        await carryOut(knowledge)
        // What may be deleted now would be.
        for (let turns = 0; turns < 300; turns++) await turn()
        t.not((await coreProblems(backend)).length, 0, 'its blocks are kept')
      }
      t.same(found.sort(), setOf(contents.flat()))
      const isMerged = change === 'its parts are merged'
      t.equal(await graph.count(), isMerged ? found.length : 0)
      while ((await coreProblems(backend)).length > 0) await turn()
    })
  }
}
