// The conformance suite: tests every sentence of src/storage.ts on a backend. It brings no test
// runner; give it the `test` function of yours (tap, node:test and others work).
//
//     suite({ test: t.test.bind(t), factory: { persistent: false, create } })

import type { Backend } from '../../src/storage.js'
import { concurrency } from './concurrency.js'
import { connections } from './connections.js'
import { lifecycle } from './lifecycle.js'
import { model } from './model.js'
import { scans } from './scans.js'
import { sharing } from './sharing.js'
import { snapshots } from './snapshots.js'
import type { Context, SuiteOptions } from './types.js'
import { values } from './values.js'
import { writes } from './writes.js'

export type { Factory, Place, SuiteOptions } from './types.js'

export function suite({ test, factory }: SuiteOptions): void {
  const withPlace: Context['withPlace'] = (name, run) => {
    test(name, async () => {
      const place = await factory.create()
      const backends: Backend[] = []
      const backend = () => {
        const made = place.backend()
        backends.push(made)
        return made
      }
      try {
        await run({ backend, ...(place.cut !== undefined && { cut: () => place.cut!() }) })
      } finally {
        for (const made of backends) await made.close()
        await place.remove?.()
      }
    })
  }
  const withStorage: Context['withStorage'] = (name, run) => {
    withPlace(name, async (place) => run(await place.backend().open('objects')))
  }
  const context: Context = { persistent: factory.persistent, withStorage, withPlace }

  const groups = [
    ...[values, scans, writes, concurrency, sharing, snapshots],
    ...[connections, lifecycle, model],
  ]
  for (const group of groups) group(context)
}
