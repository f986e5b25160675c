// The conformance suite: tests every sentence of src/storage.ts on a backend. It brings no test
// runner; give it the `test` function of yours (tap, node:test and others work).
//
//     suite({ test: t.test.bind(t), factory: { persistent: false, create } })

import type { Backend, Storage } from '../../src/storage.js'
import { concurrency } from './concurrency.js'
import { lifecycle } from './lifecycle.js'
import { model } from './model.js'
import { scans } from './scans.js'
import { values } from './values.js'
import { writes } from './writes.js'

export interface SuiteOptions {
  /** Registers a test; a rejected promise is a failure. */
  readonly test: (name: string, run: () => Promise<void>) => unknown
  readonly factory: Factory
}

export interface Factory {
  /** Whether data outlives the backend. Without it the tests of reopening do not run. */
  readonly persistent: boolean
  /** Makes a fresh, empty place for data; called once per test. */
  create(): Place | Promise<Place>
}

export interface Place {
  /** A backend over the data of this place; the one before is closed when it is called again. */
  backend(): Backend
  /** Removes the data; called after the test, when every backend is closed. */
  remove?(): Promise<void>
}

/** What each group of tests gets. */
export interface Context {
  readonly persistent: boolean
  /** Runs on one open partition of a fresh backend, and closes it. */
  withStorage(name: string, run: (storage: Storage) => Promise<void>): void
  /** Runs on a fresh place; every backend it made is closed afterwards. */
  withPlace(name: string, run: (place: Place) => Promise<void>): void
}

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
        await run({ backend })
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

  for (const group of [values, scans, writes, concurrency, lifecycle, model]) group(context)
}
