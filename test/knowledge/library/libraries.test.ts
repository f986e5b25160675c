// What questions see of users' libraries while others are answered, and which libraries stay in memory.

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { decodeKey, keyPrefix } from '../../../src/keys.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { PartitionName, Storage } from '../../../src/storage.js'
import type { CoreMessage } from '../../../src/types.js'
import { openStore } from '../../fixtures/stores.js'
import { entity, messageOf } from '../../graph/asked.js'
import { KeptBackend } from '../../objects/kept-backend.js'

const user = 'u'
const said = (name: string): CoreMessage[] => [
  messageOf([{ s: entity(name), p: entity('p'), o: entity(name) }]),
]

const { gt: prefix } = keyPrefix('segment')

/** Tells of every read of a segment, which waits for what it is given. */
class ToldBackend extends KeptBackend {
  onRead: (generation: string) => Promise<unknown> | undefined = () => undefined

  override async open(partition: PartitionName): Promise<Storage> {
    const real = await super.open(partition)
    return {
      get: async (key) => {
        const isOfSegment = Buffer.compare(key.subarray(0, prefix.length), prefix) === 0
        if (partition === 'cores' && isOfSegment) await this.onRead(decodeKey(key)[1] as string)
        return real.get(key)
      },
      getMany: (keys) => real.getMany(keys),
      scan: (range) => real.scan(range),
      write: (operations, options) => real.write(operations, options),
      close: () => real.close(),
      [Symbol.asyncDispose]: () => real.close(),
    }
  }
}

t.test(
  'a question sees what is in memory while another one waits for it to be joined',
  async (t) => {
    const backend = new ToldBackend(new MemoryBackend())
    const first = await createLorekeep({ backend, indexThreads: 0 })
    // One more than memory has room for unjoined.
    const cores = Array.from({ length: 25 }, (_, n) => `core ${n}`)
    for (const id of cores) await first.knowledge.write({ user, id }, said(id))
    await first.close()

    // Nothing of what waits is in memory, and what is read a second time is held up.
    const { knowledge } = await openStore(t, backend, { indexThreads: 0 })
    const read = new Set<string>()
    let letThrough = () => {}
    const held = new Promise<void>((resolve) => (letThrough = resolve))
    backend.onRead = (generation) => (read.has(generation) ? held : void read.add(generation))
    const asked = (id: string) => knowledge.graph({ user, cores: [id] }).count()
    for (const id of cores.slice(0, -1)) t.equal(await asked(id), 1)
    const last = cores.at(-1) as string
    const waiting = asked(last)
    while (read.size < cores.length) await turn()
    for (let turns = 0; turns < 50; turns++) await turn()
    t.equal(await asked(last), 1)
    letThrough()
    t.equal(await waiting, 1)
    t.equal(await knowledge.graph({ user }).count(), cores.length)
  },
)
