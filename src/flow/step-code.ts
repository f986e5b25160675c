// Steps of flows as code: what this process has defined, and what it lacks of flows that others did.

import { versionOf } from '../conditions.js'
import { hasCode, LorekeepError } from '../errors.js'
import { OneByOne } from '../one-by-one.js'
import { stepsOf } from './definition.js'
import type { Flow, Step } from './types.js'

type Code = ReadonlyMap<string, Step>

/** The steps of a definition; `undefined` where this process has not what it needs, which somebody was told of. */
interface Known {
  readonly version: string
  readonly code: Code | undefined
  readonly steps: readonly Step[] | undefined
}

export class StepCode {
  readonly #onError: (error: unknown) => void
  readonly #code = new Map<string, Code>()
  /** What one that is refused puts back may not be what another has put there. */
  readonly #defining = new OneByOne()
  /** By flow: where others write, the same definition is another object each time that all is read anew. */
  readonly #known = new Map<string, Known>()
  readonly #versions = new WeakMap<Flow, string>()

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /**
   * The code of a flow, which is there before anything can be claimed of what `define` stores. `isDefined`: whether
   * that was stored, as an error does not say.
   */
  define(
    id: string,
    code: Code,
    define: () => Promise<void>,
    isDefined: () => Promise<boolean>,
  ): Promise<void> {
    return this.#defining.run(id, () => this.#define(id, code, define, isDefined))
  }

  async #define(
    id: string,
    code: Code,
    define: () => Promise<void>,
    isDefined: () => Promise<boolean>,
  ): Promise<void> {
    const before = this.#code.get(id)
    this.#code.set(id, code)
    try {
      await define()
    } catch (error) {
      // The steps of the definition that stays.
      const isRefused = hasCode(error, 'LK_PRECONDITION')
      if (isRefused || !(await isDefined().catch(() => false))) {
        if (before === undefined) this.#code.delete(id)
        else this.#code.set(id, before)
      }
      throw error
    }
  }

  /** Removes a flow, and its code unless it was defined anew meanwhile. */
  async remove(id: string, remove: () => Promise<boolean>): Promise<boolean> {
    const before = this.#code.get(id)
    const removed = await remove()
    if (removed && this.#code.get(id) === before) {
      this.#code.delete(id)
      this.#known.delete(id)
    }
    return removed
  }

  /** `undefined` where this process has not what the flow needs. */
  stepsOf(flow: Flow): readonly Step[] | undefined {
    const { id } = flow
    const version = this.#versionOf(flow)
    const code = this.#code.get(id)
    const known = this.#known.get(id)
    if (known?.version === version && known.code === code) return known.steps
    const steps = stepsOf(flow, code)
    this.#known.set(id, { version, code, steps })
    if (steps === undefined) {
      const detail = `'${id}' has steps of code, and waits until they are defined in this process`
      this.#onError(new LorekeepError('LK_FLOW_INVALID', detail))
    }
    return steps
  }

  #versionOf(flow: Flow): string {
    const known = this.#versions.get(flow)
    if (known !== undefined) return known
    const version = versionOf(flow)
    this.#versions.set(flow, version)
    return version
  }
}
