import t from 'tap'
import { createSparql } from '../../../src/sparql/index.js'
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
  const sparql = false
  t.strictSame(await asked('alice'), { ...principals.alice, sparql })
  t.strictSame(await asked('reader'), { ...principals.reader, sparql })
  t.strictSame(await asked('admin'), { user: '*', defaultUser: 'acme', sparql })
  t.match(await asked('nobody'), { code: 'LK_HTTP_UNAUTHORIZED' })
})

t.test('without authentication everyone is anyone', async (t) => {
  const { url } = await serve(t, { authenticate: 'none' })
  const reply = await send(`${url}/api/v1/whoami`)
  t.strictSame(json(reply), { user: '*', defaultUser: 'trustgraph', sparql: false })
})

t.test('whether SPARQL is answered is whether its engine is there', async (t) => {
  const engine = createSparql()
  for (const isInstalled of [true, false]) {
    const sparql = { ...engine, isInstalled: () => isInstalled }
    const { url } = await serve(t, { authenticate: 'none', sparql })
    t.match(json(await send(`${url}/api/v1/whoami`)), { sparql: isInstalled })
  }
  t.equal(engine.isInstalled(), true)
})
