// Steps of flows as code: what this process has defined, and what it lacks of flows that others did.

import { hasCode, LorekeepError } from '../errors.js'
import { OneByOne } from '../one-by-one.js'
import { stepsOf } from './definition.js'
import type { Flow, Step } from './types.js'

type Code = ReadonlyMap<string, Step>

export class StepCode {
  readonly #onError: (error: unknown) => void
  readonly #code = new Map<string, Code>()
  /** What one that is refused puts back may not be what another has put there. */
  readonly #defining = new OneByOne()
  /** By definition: one that changes is another object. */
  readonly #steps = new WeakMap<Flow, readonly Step[]>()
  /** Those that somebody was told of. */
  readonly #withoutCode = new WeakSet<Flow>()

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** The code of a flow, which is there before anything can be claimed of what `define` stores. */
  define(id: string, code: Code, define: () => Promise<void>): Promise<void> {
    return this.#defining.run(id, () => this.#define(id, code, define))
  }

  async #define(id: string, code: Code, define: () => Promise<void>): Promise<void> {
    const before = this.#code.get(id)
    this.#code.set(id, code)
    try {
      await define()
    } catch (error) {
      // The steps of the definition that stays.
      const isRefused = hasCode(error, 'LK_PRECONDITION')
      if (isRefused && before === undefined) this.#code.delete(id)
      else if (isRefused) this.#code.set(id, before as Code)
      throw error
    }
  }

  /** Removes a flow, and its code unless it was defined anew meanwhile. */
  async remove(id: string, remove: () => Promise<boolean>): Promise<boolean> {
    const before = this.#code.get(id)
    const removed = await remove()
    if (removed && this.#code.get(id) === before) this.#code.delete(id)
    return removed
  }

  /** `undefined` where this process has not what the flow needs. */
  stepsOf(flow: Flow): readonly Step[] | undefined {
    const known = this.#steps.get(flow)
    if (known !== undefined) return known
    const steps = stepsOf(flow, this.#code.get(flow.id))
    if (steps !== undefined) this.#steps.set(flow, steps)
    else if (!this.#withoutCode.has(flow)) {
      this.#withoutCode.add(flow)
      const detail = `'${flow.id}' has steps of code, and waits until they are defined in this process`
      this.#onError(new LorekeepError('LK_FLOW_INVALID', detail))
    }
    return steps
  }
}
