import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { Committer } from '../../../src/objects/engine/committer.js'
import type { Draft } from '../../../src/objects/engine/draft.js'
import { NotInThisDraft } from '../../../src/objects/engine/lane-queue.js'
import { openState } from '../../../src/objects/engine/opening.js'
import { StalePage } from '../../../src/objects/engine/pages.js'
import type { Storage } from '../../../src/storage.js'

async function committerOf(storage: Storage) {
  return new Committer(storage, await openState(storage, true), {
    cacheBytes: 1024,
    isShared: false,
    presence: undefined,
    reads: 'fresh',
    elapsed: () => 0,
    now: Date.now,
  })
}

/** A change that makes the state before it stale. */
const making = (name: string) => async (draft: Draft) => draft.createCollection(name)

t.test('a read that its own commits overtake holds none of them up', async (t) => {
  const committer = await committerOf(await new MemoryBackend().open('objects'))
  let attempts = 0
  const read = committer.read(async ({ collections }) => {
    await committer.commit(making(`c${++attempts}`))
    if (attempts <= 3) throw new StalePage('replaced')
    return collections.size
  })
  t.equal(await read, 3)
})

t.test('a read that others overtake each time ends', async (t) => {
  const storage = await new MemoryBackend().open('objects')
  const [committer, other] = [await committerOf(storage), await committerOf(storage)]
  let attempts = 0
  const read = committer.read(async () => {
    if (++attempts > 100) throw new Error('again and again')
    await other.commit(making(`c${attempts}`))
    throw new StalePage('replaced')
  })
  // Whoever asked asks again, as of all that is not there for the moment.
  const cause = { code: 'LK_STORAGE_CONFLICT' }
  await t.rejects(read, { code: 'LK_STORAGE_UNAVAILABLE', kind: 'unavailable', cause })
  const last = await committer.commit(async ({ state }) => state.collections.size)
  t.equal(last, attempts, 'and nobody waits behind it')
})

t.test('a page that is gone of the newest state is damage, for a read too', async (t) => {
  const committer = await committerOf(await new MemoryBackend().open('objects'))
  let attempts = 0
  const read = committer.read(async () => {
    if (++attempts <= 3) await committer.commit(making(`c${attempts}`))
    throw new StalePage('gone')
  })
  await t.rejects(read, { code: 'LK_STORAGE_CORRUPT' })
})

t.test(
  'what cannot follow in a draft begins the next one, whatever becomes of the others',
  async (t) => {
    const storage = await new MemoryBackend().open('objects')
    const committer = await committerOf(storage)
    const order: string[] = []
    const before = committer.commit(async (draft) => {
      order.push('before')
      draft.createCollection('c')
    })
    let isFirst = true
    const later = committer.commit(async (draft) => {
      if (isFirst) {
        isFirst = false
        throw new NotInThisDraft()
      }
      t.ok(draft.state.collections.has('c'), 'what was made before is written')
      order.push('later')
    })
    // Its page is gone although the state is the newest: the data is damaged.
    const stale = committer.commit(async () => {
      order.push('stale')
      throw new StalePage('gone')
    })
    const [made, postponed, failed] = await Promise.allSettled([before, later, stale])
    t.equal(made.status, 'fulfilled')
    t.match(postponed, { status: 'rejected', reason: { code: 'LK_STORAGE_CORRUPT' } })
    t.match(failed, { status: 'rejected', reason: { code: 'LK_STORAGE_CORRUPT' } })
    t.strictSame(order, ['before', 'later', 'stale'])
  },
)
