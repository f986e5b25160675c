import t from 'tap'
import { json, send, serve } from '../fixtures/serving.js'

t.test('a token is told whom it stands for', async (t) => {
  const principals = {
    alice: { user: 'alice' },
    reader: { user: 'bob', collections: ['shop'], shared: [], access: 'read' },
    admin: { user: '*' },
  } as const
  const authenticate = (token = '') => principals[token as keyof typeof principals]
  const { url } = await serve(t, { authenticate, defaultUser: 'acme' })
  const asked = async (token: string) =>
    json(await send(`${url}/api/v1/whoami`, { headers: { Authorization: `Bearer ${token}` } }))
  t.strictSame(await asked('alice'), principals.alice)
  t.strictSame(await asked('reader'), principals.reader)
  t.strictSame(await asked('admin'), { user: '*', defaultUser: 'acme' })
  t.match(await asked('nobody'), { code: 'LK_HTTP_UNAUTHORIZED' })
})

t.test('without authentication everyone is anyone', async (t) => {
  const { url } = await serve(t, { authenticate: 'none' })
  const reply = await send(`${url}/api/v1/whoami`)
  t.strictSame(json(reply), { user: '*', defaultUser: 'trustgraph' })
})
