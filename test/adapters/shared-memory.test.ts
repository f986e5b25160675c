import t from 'tap'
import { SharedMemory } from '../fixtures/shared-memory.js'
import { suite } from '../suite/index.js'

suite({
  test: (name, run) => t.test(name, run),
  factory: {
    persistent: true,
    create: () => {
      const memory = new SharedMemory()
      return { backend: () => memory.backend(), remove: () => memory.close() }
    },
  },
})
