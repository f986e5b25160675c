import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { Committer } from '../../../src/objects/engine/committer.js'
import { NotInThisDraft } from '../../../src/objects/engine/lane-queue.js'
import { openState } from '../../../src/objects/engine/opening.js'
import { StalePage } from '../../../src/objects/engine/pages.js'

t.test(
  'what cannot follow in a draft begins the next one, whatever becomes of the others',
  async (t) => {
    const storage = await new MemoryBackend().open('objects')
    const committer = new Committer(storage, await openState(storage, true), {
      cacheBytes: 1024,
      isShared: false,
      presence: undefined,
      reads: 'fresh',
      elapsed: () => 0,
      now: Date.now,
    })
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
