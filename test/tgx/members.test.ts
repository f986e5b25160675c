import t from 'tap'
import { graphOf, memberOf } from '../../src/tgx/members.js'
import type { TarMember } from '../../src/tgx/tar.js'

const named = (name: string, type: TarMember['type'] = 'file') => {
  const member = memberOf({ name, type, size: 0, content: (async function* () {})() })
  if (member === undefined) return undefined
  const { tar: _tar, name: _name, ...rest } = member
  return rest
}

t.test('a member is what its name says, in the order of the reference system', async (t) => {
  t.strictSame(named('manifest.json'), { type: 'manifest' })
  t.strictSame(named('./manifest.json'), { type: 'manifest' })
  t.strictSame(named('config/prompt/a%2Fb.json'), { type: 'config' })
  t.strictSame(named('knowledge/caf%C3%A9%20%26/triples.nq'), {
    type: 'triples',
    collection: 'café &',
  })
  t.strictSame(named('knowledge/a/b/triples.nq'), { type: 'triples', collection: 'a/b' })
  t.strictSame(named('knowledge/library/triples.nq'), { type: 'triples', collection: 'library' })
  t.strictSame(named('knowledge/100%/triples.nq'), { type: 'triples', collection: '100%' })
  t.strictSame(named('knowledge/library/urn%3Aa.meta.json'), { type: 'description', key: 'urn:a' })
  t.strictSame(named('./knowledge/library/urn%3Aa.content'), { type: 'content', key: 'urn:a' })
})

t.test('all else is not known, and directories are nothing', async (t) => {
  for (const name of [
    'README',
    '/manifest.json',
    '../manifest.json',
    'config',
    'knowledge/triples.nq',
    'knowledge//triples.nq',
    'knowledge/library/.content',
    'knowledge/a/vectors.bin',
    './._manifest.json',
    'knowledge/library/._urn%3Aa.content',
  ]) {
    t.strictSame(named(name), { type: 'unknown' }, name)
  }
  t.strictSame(named('manifest.json', 'other'), { type: 'unknown' })
  t.equal(named('knowledge', 'directory'), undefined)
})

t.test('the graph of a collection is quoted as Python does it', async (t) => {
  const graph = 'urn:trustgraph:collection:K%C3%A4se%20%26%20%28%27Brot%27%29%21%2A~-_.%2F'
  t.equal(graphOf("Käse & ('Brot')!*~-_./"), graph)
})
