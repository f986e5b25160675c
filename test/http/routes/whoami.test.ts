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
  const server = { stores: ['knowledge', 'objects', 'flows'], sparql: false }
  t.strictSame(await asked('alice'), { ...principals.alice, ...server })
  t.strictSame(await asked('reader'), { ...principals.reader, ...server })
  t.strictSame(await asked('admin'), { user: '*', defaultUser: 'acme', ...server })
  t.match(await asked('nobody'), { code: 'LK_HTTP_UNAUTHORIZED' })
})

t.test('without authentication everyone is anyone', async (t) => {
  const { url } = await serve(t, { authenticate: 'none' })
  const reply = await send(`${url}/api/v1/whoami`)
  t.match(json(reply), { user: '*', defaultUser: 'trustgraph' })
})

t.test('a server says which stores it has', async (t) => {
  const { lorekeep } = await serve(t)
  for (const name of ['knowledge', 'objects', 'flows'] as const) {
    const only = { knowledge: undefined, objects: undefined, flows: undefined }
    const { url } = await serve(t, { authenticate: 'none', ...only, [name]: lorekeep[name] })
    t.match(json(await send(`${url}/api/v1/whoami`)), { stores: [name] })
  }
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
