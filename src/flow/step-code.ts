// Steps of flows as code: what this process has defined, and what it lacks of flows that others did.

import { versionOf } from '../conditions.js'
import { hasCode, LorekeepError } from '../errors.js'
import { OneByOne } from '../one-by-one.js'
import { stepsOf } from './definition.js'
import type { Flow, Step } from './types.js'

type Code = ReadonlyMap<string, Step>

/** What this process has defined of a flow. */
interface Defined {
  readonly code: Code | undefined
  /** By versions of definitions that may be stored, now or later: nobody could tell. */
  readonly doubtful: ReadonlyMap<string, Code>
}

/** The steps of a definition; `undefined` where this process has not what it needs, which somebody was told of. */
interface Known {
  readonly version: string
  readonly code: Code | undefined
  readonly steps: readonly Step[] | undefined
}

export class StepCode {
  readonly #stored: (id: string) => Promise<Flow | undefined>
  readonly #onError: (error: unknown) => void
  readonly #defined = new Map<string, Defined>()
  /** What one that is refused puts back may not be what another has put there. */
  readonly #defining = new OneByOne()
  /** Flows that are looked for. */
  readonly #looking = new Set<string>()
  /** By flow: where others write, the same definition is another object each time that all is read anew. */
  readonly #known = new Map<string, Known>()
  readonly #versions = new WeakMap<Flow, string>()

  /** @param stored the flow as it is in storage now */
  constructor(
    stored: (id: string) => Promise<Flow | undefined>,
    onError: (error: unknown) => void,
  ) {
    this.#stored = stored
    this.#onError = onError
  }

  /** The code of a flow, which is there before anything can be claimed of what `define` stores. */
  define(flow: Flow, code: Code, define: () => Promise<void>): Promise<void> {
    return this.#defining.run(flow.id, () => this.#define(flow, code, define))
  }

  async #define(flow: Flow, code: Code, define: () => Promise<void>): Promise<void> {
    const { id } = flow
    const before = this.#defined.get(id)
    const doubtful = new Map(before?.doubtful).set(this.#versionOf(flow), code)
    this.#defined.set(id, { code: before?.code, doubtful })
    try {
      await define()
      this.#defined.set(id, { code, doubtful: new Map() })
    } catch (error) {
      // The steps of the definition that stays.
      if (!hasCode(error, 'LK_PRECONDITION')) await this.#look(id).catch(() => undefined)
      else if (before === undefined) this.#defined.delete(id)
      else this.#defined.set(id, before)
      throw error
    }
  }

  /** Removes a flow, and its code: what is defined meanwhile comes behind, and stays. */
  remove(id: string, remove: () => Promise<boolean>): Promise<boolean> {
    return this.#defining.run(id, async () => {
      const removed = await remove()
      if (removed) {
        this.#defined.delete(id)
        this.#known.delete(id)
      }
      return removed
    })
  }

  /** `undefined` where this process has not what the flow needs. */
  stepsOf(flow: Flow): readonly Step[] | undefined {
    const { id } = flow
    const version = this.#versionOf(flow)
    const code = this.#codeOf(id, version)
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

  /** What is known of the flow may be ahead of what is stored: that alone ends a doubt. */
  #codeOf(id: string, version: string): Code | undefined {
    const defined = this.#defined.get(id)
    const found = defined?.doubtful.get(version)
    if (found === undefined) return defined?.code
    if (!this.#looking.has(id)) {
      this.#looking.add(id)
      const end = () => this.#looking.delete(id)
      this.#defining.run(id, () => this.#look(id)).then(end, end)
    }
    return found
  }

  /** Between definitions and removals. */
  async #look(id: string): Promise<void> {
    const { doubtful } = this.#defined.get(id) ?? {}
    if (doubtful === undefined || doubtful.size === 0) return
    const flow = await this.#stored(id)
    const code = flow && doubtful.get(this.#versionOf(flow))
    if (code !== undefined) this.#defined.set(id, { code, doubtful: new Map() })
  }

  /** The same for one that is stopped. */
  #versionOf(flow: Flow): string {
    const known = this.#versions.get(flow)
    if (known !== undefined) return known
    const version = versionOf({ ...flow, active: true })
    this.#versions.set(flow, version)
    return version
  }
}
