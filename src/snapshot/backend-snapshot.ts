// A snapshot that the engine takes: it sees what other processes write, too.

import type { Backend, SnapshotView } from '../storage.js'
import type { Snapshot } from './types.js'

/**
 * An engine that keeps old versions for a reader cannot delete any meanwhile, so that it may end what nobody reads:
 * PostgreSQL after ten minutes. In tests shorter.
 */
export const patience = { ms: 3_600_000, unreadMs: 120_000 }

export async function takeSnapshot(take: NonNullable<Backend['snapshot']>): Promise<Snapshot> {
  const taken = await take()
  const since = performance.now()
  let lastRead = since
  const reads = () => {
    lastRead = performance.now()
  }
  const { cores, slices, objects, flows } = taken.partitions
  return {
    partitions: {
      cores: noticing(cores, reads),
      slices: noticing(slices, reads),
      objects: noticing(objects, reads),
      flows: noticing(flows, reads),
    },
    pass: () => {},
    get mayWait() {
      const now = performance.now()
      return now - since < patience.ms && now - lastRead < patience.unreadMs
    },
    close: () => taken.close(),
  }
}

/** Tells of each read, also of the pages of a scan. */
function noticing(view: SnapshotView, reads: () => void): SnapshotView {
  return {
    get(key) {
      reads()
      return view.get(key)
    },
    getMany(keys) {
      reads()
      return view.getMany(keys)
    },
    async *scan(range) {
      reads()
      for await (const page of view.scan(range)) {
        yield page
        reads()
      }
    },
  }
}
