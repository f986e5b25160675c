// Which parts questions may have read of that the next one does not see.

import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import type { Part } from '../../../src/graph/index/part.js'
import { Collector } from '../../../src/knowledge/collector.js'
import type { Library } from '../../../src/knowledge/library/library.js'
import { MemoryParts } from '../../../src/knowledge/library/memory-parts.js'
import { Versions } from '../../../src/knowledge/library/versions.js'

t.test('a part that goes before a question of this library saw it is told, too', async (t) => {
  const backend = new MemoryBackend()
  const collector = new Collector(
    await backend.open('cores'),
    await backend.open('slices'),
    t.error,
  )
  const memory = new MemoryParts(
    async function* () {},
    () => () => undefined,
    Date.now,
  )
  const [old, next] = [{} as Part, {} as Part]
  const library = { parts: [old] }
  const gone: Part[] = []
  const versions = new Versions(library as unknown as Library, memory, collector, (part) =>
    gone.push(part),
  )
  // It was read from the storage, then what it has was merged.
  versions.forget()
  t.same(gone, [])
  library.parts = [next]
  versions.forget()
  t.equal(gone.length, 1)
  t.equal(gone[0], old)
})
