import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { suite } from '../suite/index.js'
import { LayeredBackend } from './layered-backend.js'

// Whatever an engine promises holds through the layer, also while it holds snapshots.
suite({
  test: (name, run) => t.test(name, run),
  factory: {
    persistent: false,
    create: () => ({ backend: () => new LayeredBackend(new MemoryBackend()) }),
  },
})
