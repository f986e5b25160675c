import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { saidApart } from '../../../src/flow/steps/said-apart.js'
import type { StepContext } from '../../../src/flow/types.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import { documentOf } from './knowledge.js'

const uri = (name: string) => ({ v: `urn:${name}`, e: true })

t.test('what is said to be apart is read once, until it changes', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { knowledge } = keep
  const known = { s: uri('x'), p: uri('knows'), o: uri('y') }
  const m = { i: '', u: '', m: [], c: 'c' }
  const about = [
    known,
    { s: uri('y'), p: uri('knows'), o: uri('x') },
    { s: uri('z'), p: uri('knows'), o: uri('x') },
  ]
  await knowledge.write({ user: 'alice', id: 'c' }, [['t', { m, t: about }]])
  const graph = knowledge.graph({ user: 'alice' })
  let reads = 0
  const ask = async () => {
    // As each delivery has it where processes share a backend.
    const lent = new Proxy(knowledge, {
      get: (store, name) => {
        if (name === 'messages') reads++
        const member: unknown = Reflect.get(store, name)
        return typeof member === 'function' ? (member.bind(store) as unknown) : member
      },
    })
    const { signal } = new AbortController()
    const context = { document: documentOf({}), knowledge: lent, signal } as unknown as StepContext
    const isApart = await saidApart(context)
    return [isApart('urn:x', 'urn:y'), isApart('urn:z', 'urn:x')]
  }
  t.strictSame(await ask(), [false, false])
  await graph.split(uri('x'), uri('y'))
  for (let n = 0; n < 3; n++) t.strictSame(await ask(), [true, false])
  t.equal(reads, 1)
  await graph.split(uri('x'), uri('z'))
  t.strictSame(await ask(), [true, true])
  t.equal(reads, 2)
})
