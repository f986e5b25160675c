// The list of documents that are done.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep, type DocumentQuery } from '../../src/index.js'

t.test('documents of a user are listed by id, from one on, and as many as asked for', async (t) => {
  const { flows, close } = await createLorekeep({
    backend: new MemoryBackend(),
    defaultUser: 'ann',
  })
  t.teardown(close)
  await flows.define({ id: 'cut', steps: ['chunk'] })
  flows.run()
  const load = async (id: string, user?: string) => {
    const { job } = await flows.load('cut', { id, content: 'x', ...(user && { user }) })
    for await (const { type } of flows.watch({ job })) if (type === 'done') return
  }
  for (const id of ['c', 'a', 'b', 'a']) await load(id)
  await load('his', 'ben')
  const listed = async (query?: DocumentQuery) => {
    const ids: string[] = []
    for await (const { document, user, completed } of flows.documents(query)) {
      t.match({ user, completed }, { user: query?.user ?? 'ann', completed: { flow: 'cut' } })
      ids.push(document)
    }
    return ids
  }
  t.strictSame(await listed(), ['a', 'b', 'c'])
  t.strictSame(await listed({ user: 'ben' }), ['his'])
  t.strictSame(await listed({ user: 'nobody' }), [])
  const { documents, next = '' } = await flows.documentPage({ limit: 1 })
  t.match(documents, [{ document: 'a' }])
  t.strictSame(await listed({ after: next }), ['b', 'c'])
  t.strictSame(await listed({ after: next, limit: 1 }), ['b'])
  await t.rejects(flows.documentPage({ user: 'ben', after: next }), { code: 'LK_CURSOR' })
  t.strictSame(await listed({ prefix: 'b' }), ['b'])
  t.strictSame(await listed({ flow: 'default' }), [])
  t.strictSame(await listed({ collection: 'none' }), [])
  const { at = '' } = documents[0]?.completed ?? {}
  t.strictSame(await listed({ completedTo: at, prefix: 'a' }), [])
  t.strictSame(await listed({ completedFrom: at, prefix: 'a' }), ['a'])
  t.strictSame(await listed({ limit: 0 }), [])
  t.strictSame(await listed({ limit: 3 }), ['a', 'b', 'c'])
  await flows.removeDocument({ document: 'b' })
  t.strictSame(await listed(), ['a', 'c'])
})
