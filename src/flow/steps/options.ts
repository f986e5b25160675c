// Options of built-in steps, as they come from a configuration.

import { addUnknown, type ErrorList } from '../../error-list.js'
import type { JsonObject, JsonValue } from '../../objects/types.js'

export interface Problem {
  /** Where it is, such as `steps[1].options.size`. */
  readonly path: string
  readonly message: string
}

/** Takes options out one by one, and collects what is wrong with them. */
export class OptionReader {
  readonly problems: ErrorList<Problem>
  readonly #options: JsonObject
  readonly #path: string
  readonly #known = new Set<string>()

  constructor(options: JsonObject, path: string, problems: ErrorList<Problem>) {
    this.#options = options
    this.#path = path
    this.problems = problems
  }

  integer(name: string, least: number, most: number): number | undefined {
    const value = this.#take(name)
    if (value === undefined) return undefined
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) {
      return value as number
    }
    return this.fail(name, `must be a whole number from ${least} to ${most}`)
  }

  text(name: string): string | undefined {
    const value = this.#take(name)
    if (value === undefined || (typeof value === 'string' && value !== '')) return value
    return this.fail(name, 'must be a string that is not empty')
  }

  boolean(name: string): boolean | undefined {
    const value = this.#take(name)
    if (value === undefined || typeof value === 'boolean') return value
    return this.fail(name, 'must be true or false')
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.#take(name)
    if (value === undefined) return undefined
    const found = choices.find((choice) => choice === value)
    return found ?? this.fail(name, `must be one of ${choices.join(', ')}`)
  }

  fail(name: string, message: string): undefined {
    this.problems.add({ path: `${this.#path}.${name}`, message })
    return undefined
  }

  /** Names what nobody has taken. */
  end(): void {
    const known = [...this.#known]
    addUnknown(this.problems, this.#options, known, (name) => ({
      path: `${this.#path}.${name}`,
      message: `is unknown: there is ${known.join(', ') || 'no option'}`,
    }))
  }

  #take(name: string): JsonValue | undefined {
    this.#known.add(name)
    return Object.hasOwn(this.#options, name) ? this.#options[name] : undefined
  }
}
