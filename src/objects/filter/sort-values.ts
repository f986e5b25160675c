// What objects are sorted by: MongoDB's rules. Several keys that go through one array take their
// values from one element of it, and of the elements that one counts which sorts first.

import type { Path } from '../values/path.js'
import { Problems } from '../../door/problems.js'
import { isRecord, quoted } from '../../door/wording.js'
import { isArrayIndex, memberOf } from '../values/path.js'
import { compareValues } from '../values/values.js'
import type { SortDirection } from '../types.js'
import type { JsonValue } from '../../types.js'

export interface SortKey {
  readonly path: Path
  readonly direction: SortDirection
}

/** Where the path of a key has got to. */
interface PathPlace {
  readonly path: Path
  readonly value: unknown
  /** How many parts of the path are behind it. */
  readonly at: number
  /** Sorted by as it is, even if it is an array. */
  readonly isWhole?: boolean
}

// Places in arrays multiply with the elements of others: a million take half a second.
const maxTuples = 1_000_000

const empty: JsonValue = Object.freeze([])

/**
 * A value for each key. `fields` has what each path begins with, a field of two paths the same
 * value twice. Nothing there is null; an empty array is `[]`, which comes before null. Any other
 * array that is sorted by as a whole (one in an array) is wrapped in an array, so that it is not
 * taken for that. A row that is regular has its key from regularKey() there.
 * @throws LorekeepError `LK_QUERY` where keys go through two arrays that lie beside each other
 */
export function sortValues(
  keys: readonly SortKey[],
  fields: readonly unknown[],
  id: unknown,
): JsonValue[] {
  return new Expansion(keys, id).first(fields)
}

export function compareSorted(
  keys: readonly SortKey[],
  a: readonly JsonValue[],
  b: readonly JsonValue[],
): number {
  for (let k = 0; k < keys.length; k++) {
    const order = compareSortValues(a[k] as JsonValue, b[k] as JsonValue)
    if (order !== 0) return keys[k]?.direction === 'desc' ? -order : order
  }
  return 0
}

/** A total order, that of compareScalars() for scalars: ascending. */
export function compareSortValues(a: JsonValue, b: JsonValue): number {
  const order = Number(isEmptyArray(b)) - Number(isEmptyArray(a))
  return order === 0 ? compareValues(a, b) : order
}

/** Takes arrays apart, as an index over all keys would. */
class Expansion {
  readonly #keys: readonly SortKey[]
  readonly #id: unknown
  #first: JsonValue[] | undefined
  #tuples = 0

  constructor(keys: readonly SortKey[], id: unknown) {
    this.#keys = keys
    this.#id = id
  }

  first(fields: readonly unknown[]): JsonValue[] {
    this.#visit(this.#keys.map(({ path }, k) => follow(path, fields[k], 1)))
    return this.#first as JsonValue[]
  }

  #visit(places: readonly PathPlace[]): void {
    const open = places.filter(isOpen)
    const [through] = open
    if (through === undefined) return this.#offer(places)
    const array = through.value as readonly unknown[]
    const other = open.find(({ value }) => value !== array)
    if (other !== undefined) {
      const names = `${nameOf(through)} and ${nameOf(other)}`
      this.#refuse(`two arrays beside each other for ${names}: sort by one of them`)
    }
    if (array.length === 0) return this.#visit(places.map(inEmpty))
    const named = places.map((place) => this.#named(place))
    for (const element of array) {
      this.#visit(places.map((place, k) => named[k] ?? inElement(place, element)))
      // The others would be the same.
      if (places.every((place, k) => !isOpen(place) || named[k] !== undefined)) return
    }
  }

  /** Where the path goes by a number, which is the place of an element. */
  #named(place: PathPlace): PathPlace | undefined {
    const { path, at } = place
    const part = path[at]
    if (!isOpen(place) || part === undefined || !isArrayIndex(part)) return undefined
    const array = place.value as readonly unknown[]
    const element = memberOf(array, part)
    if (element === undefined) return undefined
    if (array.some((one) => isRecord(one) && Object.hasOwn(one, part))) {
      this.#refuse(`an array for ${nameOf(place)} with the place ${part} and the field '${part}'`)
    }
    const isWhole = at + 1 === path.length && Array.isArray(element) && element.length > 0
    return isWhole ? { path, value: element, at: at + 1, isWhole } : follow(path, element, at + 1)
  }

  #offer(places: readonly PathPlace[]): void {
    if (++this.#tuples > maxTuples) {
      this.#refuse(`more than ${maxTuples} combinations of elements for its keys`)
    }
    const values = places.map(valueAt)
    const isFirst = this.#first === undefined || compareSorted(this.#keys, values, this.#first) < 0
    if (isFirst) this.#first = values
  }

  #refuse(message: string): void {
    const problems = new Problems()
    problems.fail(['sort'], `meets in the object ${quoted(String(this.#id))} ${message}`)
    problems.throwIfAny('LK_QUERY')
  }
}

/** Through objects, as far as that goes. */
function follow(path: Path, start: unknown, from: number): PathPlace {
  let value = start
  for (let at = from; at < path.length; at++) {
    if (typeof value !== 'object' || value === null) return missing(path)
    if (Array.isArray(value)) return { path, value, at }
    value = memberOf(value, path[at] as string)
  }
  return { path, value, at: path.length }
}

function inElement(place: PathPlace, element: unknown): PathPlace {
  if (!isOpen(place)) return place
  const { path, at } = place
  if (at === path.length) return { path, value: element, at, isWhole: true }
  return isRecord(element) ? follow(path, element, at) : missing(path)
}

function inEmpty(place: PathPlace): PathPlace {
  if (!isOpen(place)) return place
  const { path, at } = place
  return at === path.length ? { path, value: empty, at, isWhole: true } : missing(path)
}

function missing(path: Path): PathPlace {
  return { path, value: undefined, at: path.length }
}

/** At an array that is to be taken apart. */
function isOpen({ value, isWhole }: PathPlace): boolean {
  return Array.isArray(value) && isWhole !== true
}

function valueAt({ value }: PathPlace): JsonValue {
  if (value === undefined) return null
  return Array.isArray(value) && value !== empty ? [value as JsonValue] : (value as JsonValue)
}

function nameOf({ path }: PathPlace): string {
  return `'${path.join('.')}'`
}

function isEmptyArray(value: JsonValue): boolean {
  return Array.isArray(value) && value.length === 0
}
