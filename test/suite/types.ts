import type { Backend, Storage } from '../../src/storage.js'

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
  /**
   * A backend over the data of this place. Where it is not shared, the one before is closed when it is called
   * again; where it is, several are open at once.
   */
  backend(): Backend
  /**
   * Cuts all connections of this place's backends to the engine, as a network does; new ones are taken. Where it
   * is left out, the tests of that do not run.
   */
  cut?(): void
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
