// The stores as one user has them, of a server whose token acts for any.

import t from 'tap'
import { openUserStores } from '../../src/cli/access/user-stores.js'
import { serve } from '../http/fixtures/serving.js'

t.test('objects of others are not there, whoever the token acts for', async (t) => {
  const { url, lorekeep } = await serve(t)
  const { objects } = lorekeep
  await objects.defineSchema({
    name: 's',
    fields: { id: { type: 'string' }, n: { type: 'integer' } },
  })
  for (const user of ['alice', 'bob']) {
    const values = [1, 2].map((n) => ({ id: `${user} ${n}`, n }))
    const metadata = { id: 'b', user, collection: user }
    await objects.import({ metadata, schema_name: 's', values })
  }
  const open = async (token: string, user: string) => {
    const options = { data: '', url: new URL(url), token, user, create: false, config: undefined }
    const { stores, close } = await openUserStores(options as never)
    t.teardown(close)
    return stores
  }
  for (const token of ['admin', 'alice']) {
    const { query } = await open(token, 'alice')
    for (const [filters, ids] of [
      [undefined, ['alice 1', 'alice 2']],
      [{ n: 2 }, ['alice 2']],
      [{ $or: [{ _user: 'bob' }, { n: 1 }] }, ['alice 1']],
      [{ _user: 'bob' }, []],
    ] as const) {
      const found = await query({ schema_name: 's', ...(filters && { filters }) } as never)
      t.strictSame(
        found.objects.map(({ id }) => id).sort(),
        ids,
        `${token} ${JSON.stringify(filters)}`,
      )
      t.equal(found.total, ids.length)
    }
  }
})
