// What may be one thing, what is, and what is not: in a directory and in a server alike.

import t from 'tap'
import { fail, serve, succeed } from './command.js'

const data = t.testdir()
const label = 'http://www.w3.org/2000/01/rdf-schema#label'
const same = 'http://www.w3.org/2002/07/owl#sameAs'
const rdf = `<urn:us> <${label}> "US Navy" .
<urn:u.s.> <${label}> "U.S. Navy" .
<urn:thames> <${label}> "Thames" .
`
await succeed(t, ['import', '-', '--id', 'names', '--format', 'nt', '--data', data], {
  input: Buffer.from(rdf),
})

async function tryAll(where: readonly string[]): Promise<void> {
  const said = async (...args: readonly string[]) => String(await succeed(t, [...args, ...where]))
  const pair = ['urn:us', '<urn:u.s.>']
  t.equal(await said('duplicates'), '0.95\tform\t<urn:u.s.>\t<urn:us>\n')
  t.match(JSON.parse(await said('duplicates', '--json', '--limit', '1')), {
    names: ['U.S. Navy', 'US Navy'],
  })
  t.equal(await said('duplicates', '--least', '0.99'), '')
  t.equal(await said('merge', ...pair), '')
  t.equal(await said('match', '--p', same), `<urn:u.s.> <${same}> <urn:us> .\n`)
  t.equal(await said('duplicates'), '')
  t.equal(await said('split', ...pair), '')
  t.equal(await said('match', '--p', same), '')
  t.equal(await said('duplicates'), '')
  for (const [code, ...args] of [
    [1, 'merge', 'urn:us', 'urn:us'],
    [1, 'merge', 'urn:us', '"US Navy"'],
    [1, 'split', 'urn:nobody', 'urn:us'],
    [2, 'duplicates', '--least', '2'],
    [2, 'duplicates', '--limit', '10001'],
  ] as [number, ...string[]][]) {
    await fail(t, code, [...args, ...where])
  }
  await succeed(t, ['cores', 'delete', 'urn:lorekeep:same', ...where])
}

t.test('pairs are proposed, merged and split, in a directory and in a server', async (t) => {
  await tryAll(['--data', data])
  const { url, token, child, ended } = await serve(t, ['--data', data])
  await tryAll(['--url', url, '--token', token])
  child.kill('SIGTERM')
  await ended
})
