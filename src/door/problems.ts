// Everything that is wrong with an input, told up to a bound: the input comes from strangers, and may
// be wrong in a million places. What is beyond the bound is counted, and never made.

import { LorekeepError, type ErrorCode, type Problem } from '../errors.js'
import { formatPath, type JsonPath } from './json.js'
import { joined, unknownMember } from './wording.js'

/** Entries of one list. */
export const maxErrors = 100
/** Of one list as JSON in UTF-8. */
export const maxErrorBytes = 64 * 1024
/** The longest text in an entry, in UTF-16 code units: a key may be a megabyte. */
const longestText = 512
/** Errors that a sentence names. */
const mostNamed = 10

export type { Problem } from '../errors.js'

export class Problems<Entry extends object = Problem> {
  readonly #entries: Entry[] = []
  #bytes = 2
  #omitted = 0

  /** Of all, also of those that are not told. */
  get count(): number {
    return this.#entries.length + this.#omitted
  }

  /** No further one is told: who collects may stop, or go on and count. */
  get isFull(): boolean {
    return this.#omitted > 0 || this.#entries.length >= maxErrors
  }

  /** Texts in the entry are cut. */
  add(entry: Entry): void {
    if (this.isFull) return this.omit()
    const told = withShortTexts(entry)
    const bytes = Buffer.byteLength(JSON.stringify(told)) + 1
    if (this.#bytes + bytes > maxErrorBytes) return this.omit()
    this.#bytes += bytes
    this.#entries.push(told)
  }

  /** Counts what is not told. */
  omit(count = 1): void {
    this.#omitted += count
  }

  /** Those of another list, with what it left out. */
  addAll(details: Readonly<Record<string, unknown>>): void {
    const { errors, errorsOmitted } = details
    for (const entry of Array.isArray(errors) ? (errors as Entry[]) : []) this.add(entry)
    if (typeof errorsOmitted === 'number') this.omit(errorsOmitted)
  }

  /** For `details` of an error. */
  get details(): { readonly errors: readonly Entry[]; readonly errorsOmitted?: number } {
    const errors = this.#entries
    return this.#omitted === 0 ? { errors } : { errors, errorsOmitted: this.#omitted }
  }

  /** A problem at a path. `message` is made only where it is told. */
  fail(this: Problems, path: JsonPath | string, message: string | (() => string)): void {
    if (this.isFull) return this.omit()
    this.add({
      path: typeof path === 'string' ? path : formatPath(path),
      message: typeof message === 'string' ? message : message(),
    })
  }

  /** A problem for each member that is not known; none is made beyond the bound. */
  unknown(this: Problems, record: object, known: readonly string[], path = ''): void {
    for (const name of Object.keys(record)) {
      if (known.includes(name)) continue
      this.fail(joined(path, formatPath([name])), () => unknownMember(name, known))
    }
  }

  /** The first few in words. */
  sentence(this: Problems): string {
    const named = this.#entries.slice(0, mostNamed)
    const more = this.count - named.length
    return named.map(worded).join('; ') + (more > 0 ? ` (and ${more} more)` : '')
  }

  /** An error that tells all of it in `details`. */
  error(this: Problems, code: ErrorCode, details: Readonly<Record<string, unknown>> = {}) {
    return new LorekeepError(code, this.sentence(), { details: { ...this.details, ...details } })
  }

  /** @throws LorekeepError of that code, where anything is wrong */
  throwIfAny(this: Problems, code: ErrorCode): void {
    if (this.count > 0) throw this.error(code)
  }
}

function worded({ path, message }: Problem): string {
  return path === '' ? message : `${path} ${message}`
}

/** The text, or its beginning. No half of a surrogate pair is left. */
export function shortText(text: string, most = longestText): string {
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text
}

function withShortTexts<Entry extends object>(entry: Entry): Entry {
  const isLong = (value: unknown) => typeof value === 'string' && value.length > longestText
  if (!Object.values(entry).some(isLong)) return entry
  const texts = Object.entries(entry).map(([key, value]) => [
    key,
    typeof value === 'string' ? shortText(value) : (value as unknown),
  ])
  return Object.fromEntries(texts) as Entry
}
