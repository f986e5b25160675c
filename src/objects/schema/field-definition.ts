// The fields of a schema: from the forms in which they are found to the plain one.

import {
  checkKeys,
  fittingTypes,
  type FieldPlace,
  typeOf,
  valuesOf,
  wrongFieldName,
} from './field-keys.js'
import { checkJson, type JsonPath } from '../../door/json.js'
import { shown } from '../../door/wording.js'
import type { FieldDefinition } from '../types.js'
import type { JsonValue } from '../../types.js'
import { isRecord } from '../../door/wording.js'
import { Members, own } from '../../door/members.js'
import { aCount, aNumber, aSafeNumber, aString } from '../../door/rules.js'
import type { Problems } from '../../door/problems.js'

const mostFields = 1000
const deepestField = 16
/** Together with the deepest field no more than the levels that an object may have. */
const deepestDefault = 64 - deepestField

/** In the place of a field that is wrong: it admits anything, so that it is told once. */
export const wrongField: FieldDefinition = { type: 'any' }

/** Reads the fields of one schema, and keeps what concerns the schema as a whole. */
export class FieldReader {
  readonly primaryKeys: string[] = []
  readonly indexed: string[] = []
  /** Still to be checked: that takes fields which are right otherwise. */
  readonly defaults: { readonly path: JsonPath; readonly field: FieldDefinition }[] = []
  /** Where each field of the schema itself stands in the input. */
  readonly paths = new Map<string, JsonPath>()
  readonly #problems: Problems
  #fields = 0

  constructor(problems: Problems) {
    this.#problems = problems
  }

  /** As a map, or as an array of fields that hold their names: `[{ "name": "id", "type": … }]`. */
  read(input: JsonValue | undefined, path: JsonPath, depth = 1): Record<string, FieldDefinition> {
    const fields: Record<string, FieldDefinition> = {}
    const place = depth === 1 ? 'top' : 'inner'
    const put = (name: string, given: JsonValue, at: JsonPath, inArray: boolean) => {
      const wrong = wrongFieldName(name)
      if (wrong !== undefined) this.#problems.fail(at, `has a name that ${wrong}`)
      if (depth === 1 && name.startsWith('_')) {
        this.#problems.fail(at, "has a name that begins with '_', as the system's own fields do")
      }
      if (Object.hasOwn(fields, name)) this.#problems.fail(at, `declares '${name}' a second time`)
      fields[name] = this.#field(given, at, depth, place, inArray)
      if (depth > 1 || !isRecord(given)) return
      this.paths.set(name, at)
      if (own(given, 'primary_key') === true) this.primaryKeys.push(name)
      if (own(given, 'indexed') === true) this.indexed.push(name)
    }

    if (isRecord(input)) {
      for (const [name, given] of Object.entries(input)) put(name, given, [...path, name], false)
    } else if (Array.isArray(input)) {
      for (const [i, given] of (input as readonly JsonValue[]).entries()) {
        const name = isRecord(given) ? own(given, 'name') : undefined
        if (typeof name === 'string') put(name, given, [...path, i], true)
        else this.#problems.fail([...path, i], "must be an object with a 'name' and a 'type'")
      }
    } else {
      const found = input === undefined ? 'is missing' : `must not be ${shown(input)}`
      this.#problems.fail(path, `${found}: give an object of field names and definitions`)
      return fields
    }
    if (Object.keys(input).length === 0) this.#problems.fail(path, 'declares no field')
    return fields
  }

  #field(
    input: JsonValue,
    path: JsonPath,
    depth: number,
    place: FieldPlace,
    inArray: boolean,
  ): FieldDefinition {
    const problems = this.#problems
    if (++this.#fields > mostFields) {
      if (this.#fields === mostFields + 1) {
        problems.fail(path, `is one too many: ${mostFields} fields, at all depths, are the most`)
      }
      return wrongField
    }
    if (depth > deepestField) {
      problems.fail(path, `lies too deep: ${deepestField} levels are the most`)
      return wrongField
    }
    if (!isRecord(input)) {
      problems.fail(path, `must be an object such as { "type": "string" }, not ${shown(input)}`)
      return wrongField
    }
    checkKeys(input, path, place, inArray, problems)
    const given = new Members(input, path, problems)
    const description = given.take('description', aString)
    const required = given.boolean('required')
    const nullable = given.boolean('nullable')
    given.boolean('primary_key')
    given.boolean('indexed')
    const type = typeOf(input, path, problems)
    if (type === undefined) return wrongField

    for (const [key, types] of Object.entries(fittingTypes)) {
      if (Object.hasOwn(input, key) && !types.includes(type)) {
        problems.fail([...path, key], `does not fit the type ${type}, only ${types.join(', ')}`)
      }
    }
    const aBound = type === 'integer' ? aSafeNumber : aNumber
    const min = given.take('min', aBound)
    const max = given.take('max', aBound)
    const shortest = given.take('min_length', aCount())
    const longest = given.take('max_length', aCount())
    const pairs = [
      ['min', min, max],
      ['min_length', shortest, longest],
    ] as const
    for (const [key, low, high] of pairs) {
      if (low !== undefined && high !== undefined && low > high) {
        problems.fail([...path, key], `is more than the most, ${high}`)
      }
    }

    const values = type === 'enum' ? valuesOf(input, path, problems) : undefined
    const items = own(input, 'items')
    const properties = own(input, 'properties')
    const ifMissing = own(input, 'default')
    if (ifMissing !== undefined) {
      const tell = (_: string, reason: string) => problems.fail([...path, 'default'], reason)
      checkJson(ifMissing, tell, { maxDepth: deepestDefault, maxReports: 1 })
    }
    const field: FieldDefinition = {
      type,
      ...(description !== undefined && { description }),
      ...(required && { required }),
      ...(nullable && { nullable }),
      ...(ifMissing !== undefined && { default: ifMissing }),
      ...(values && { values }),
      ...(items !== undefined && {
        items: this.#field(items, [...path, 'items'], depth + 1, 'element', false),
      }),
      ...(properties !== undefined && {
        properties: this.read(properties, [...path, 'properties'], depth + 1),
      }),
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
      ...(shortest !== undefined && { min_length: shortest }),
      ...(longest !== undefined && { max_length: longest }),
    }
    if (ifMissing !== undefined) this.defaults.push({ path: [...path, 'default'], field })
    return field
  }
}
