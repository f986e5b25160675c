// Whose things a command is about where no user is named.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fail, serve, succeed } from './command.js'

const sample = await succeed(t, ['sample'])

t.test('commands act for the user of the token, or for the default user', async (t) => {
  const dir = t.testdir({ 'note.json': '{"name":"note","fields":{"id":{"type":"string"}}}' })
  const config = join(dir, 'lorekeep.json')
  const tokens = { own: { user: 'alice' }, any: { user: '*' } }
  writeFileSync(config, JSON.stringify({ data: join(dir, 'data'), defaultUser: 'acme', tokens }))
  const { url } = await serve(t, ['--config', config])
  const admin = ['--url', url, '--token', 'any']
  await succeed(t, ['schema', 'define', join(dir, 'note.json'), ...admin])

  for (const [token, user] of [
    ['own', 'alice'],
    ['any', 'acme'],
  ] as const) {
    const where = ['--url', url, '--token', token]
    const said = async (args: readonly string[], input: Uint8Array = new Uint8Array()) =>
      String(await succeed(t, [...args, ...where], { input }))
    await said(['import', '-', '--id', 'books'], sample)
    t.match(await said(['cores', 'show', 'books']), new RegExp(`^user +${user}$`, 'm'))
    t.match(await said(['cores']), /^books\t/)
    t.match(await said(['index', 'books', '--json']), '"state":"complete"')
    t.equal(await said(['match', '--count']), '44\n')
    t.match(await said(['nearest', '--vector', '-', '-k', '1'], vector()), '\tbooks\n')
    t.match(await said(['sparql', 'ASK { ?s ?p "Nantucket" }']), 'true')
    t.match(JSON.parse(await said(['ask', 'Ahab', '--json'])), { entities: [] })
    t.ok((await said(['export', '--id', 'books'])).includes(user))
    const text = Buffer.from('Ellen lives in Bath.')
    const loaded = await said(['load', '-', '--id', 'urn:text', '--wait', '--json'], text)
    t.match(JSON.parse(loaded), { user, state: 'done' })
    t.match(JSON.parse(await said(['documents', 'show', 'urn:text', '--json'])), { user })
    await said(['documents', 'remove', 'urn:text'])
    const object = Buffer.from(`{"id":"${user}"}`)
    await said(['objects', 'import', '-', '--schema', 'note', '--collection', 'c'], object)
    const byId = ['--filter', `{"id":"${user}"}`]
    const found = await said(['objects', 'query', '--schema', 'note', '--ndjson', ...byId])
    t.match(JSON.parse(found), { _user: user })
    await said(['cores', 'delete', 'books'])
  }
  await fail(t, 1, ['cores', '--url', url, '--token', 'nobody'])
})

function vector(): Uint8Array {
  return Buffer.from(JSON.stringify([1, ...Array<number>(15).fill(0)]))
}
