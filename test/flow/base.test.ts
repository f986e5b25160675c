import t from 'tap'
import type { Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { extract } from '../../src/flow/steps/extract.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { LorekeepOptions } from '../../src/lorekeep.js'
import type { FlowDefinition } from '../../src/flow/types.js'

/** All URIs of the core, and of the objects, that a document becomes. */
async function urisOf(
  t: Test,
  options: Partial<LorekeepOptions>,
  steps: NonNullable<FlowDefinition['steps']>,
): Promise<readonly string[]> {
  const keep = await createLorekeep({ backend: new MemoryBackend(), ...options })
  t.teardown(() => keep.close())
  await keep.flows.define({ id: 'f', steps })
  keep.flows.run()
  const document = { id: 'My notes', user: 'u', content: 'Ellen met Dick in London.' }
  const { job } = await keep.flows.load('f', document)
  for await (const { type } of keep.flows.watch({ job })) t.not(type, 'dead')
  const uris = new Set<string>()
  for await (const { s } of keep.knowledge.graph({ user: 'u' }).match()) uris.add(s.v)
  for (const schema_name of ['lorekeep_chunk', 'lorekeep_entity']) {
    const { objects } = await keep.objects.query({ schema_name, filters: {} })
    for (const { uri } of objects) uris.add(String(uri))
  }
  return [...uris].sort()
}

const names = ['d/My%20notes', 'd/My%20notes/c0', 'e/dick', 'e/ellen', 'e/london', 'e/met']
const under = (base: string) => new RegExp(`^${base.replaceAll('.', '\\.')}[de]/`)
const steps = ['chunk', 'embed', 'extract', 'store', 'index'] as const

t.test('URIs begin with the base of the store, by name and by code', async (t) => {
  const base = 'https://acme.example/id/'
  for (const all of [steps, ['chunk', extract(), 'store', 'index']]) {
    const uris = await urisOf(t, { base }, all)
    for (const uri of uris) t.match(uri, under(base))
    for (const name of names.slice(0, 5)) t.ok(uris.includes(base + name), name)
  }
  for (const uri of await urisOf(t, {}, steps)) t.match(uri, under('http://trustgraph.ai/'))
})

t.test('a step that has a base of its own keeps it', async (t) => {
  const options = { base: 'urn:own:' }
  const own = steps.map((name) => (name === 'chunk' || name === 'embed' ? name : { name, options }))
  for (const uri of await urisOf(t, { base: 'https://acme.example/' }, own)) {
    t.match(uri, under('urn:own:'))
  }
})

t.test('what no URI can begin with is refused', async (t) => {
  for (const base of ['', 'acme', 'http://a b/']) {
    await t.rejects(createLorekeep({ backend: new MemoryBackend(), base }), TypeError)
  }
})
