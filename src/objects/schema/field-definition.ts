// The fields of a schema: from the forms in which they are found to the plain one.

import { isJsonObject } from './defaults.js'
import {
  isBoolean,
  isLength,
  isNumber,
  isSafe,
  isString,
  own,
  type Problems,
  taker,
} from './definition-problems.js'
import {
  boundWords,
  checkKeys,
  fittingTypes,
  type Place,
  typeOf,
  valuesOf,
  wrongName,
} from './field-keys.js'
import { checkJson, type JsonPath } from '../json.js'
import { shown } from './reason.js'
import type { FieldDefinition, JsonValue } from '../types.js'

const mostFields = 1000
const deepestField = 16
/** Together with the deepest field no more than the levels that an object may have. */
const deepestDefault = 64 - deepestField

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
      const wrong = wrongName(name)
      if (wrong !== undefined) this.#problems.add(at, `has a name that ${wrong}`)
      if (depth === 1 && name.startsWith('_')) {
        this.#problems.add(at, "has a name that begins with '_', as the system's own fields do")
      }
      if (Object.hasOwn(fields, name)) this.#problems.add(at, `declares '${name}' a second time`)
      fields[name] = this.#field(given, at, depth, place, inArray)
      if (depth > 1 || !isJsonObject(given)) return
      this.paths.set(name, at)
      if (own(given, 'primary_key') === true) this.primaryKeys.push(name)
      if (own(given, 'indexed') === true) this.indexed.push(name)
    }

    if (isJsonObject(input)) {
      for (const [name, given] of Object.entries(input)) put(name, given, [...path, name], false)
    } else if (Array.isArray(input)) {
      for (const [i, given] of (input as readonly JsonValue[]).entries()) {
        const name = isJsonObject(given) ? own(given, 'name') : undefined
        if (typeof name === 'string') put(name, given, [...path, i], true)
        else this.#problems.add([...path, i], "must be an object with a 'name' and a 'type'")
      }
    } else {
      const found = input === undefined ? 'is missing' : `must not be ${shown(input)}`
      this.#problems.add(path, `${found}: give an object of field names and definitions`)
      return fields
    }
    if (Object.keys(input).length === 0) this.#problems.add(path, 'declares no field')
    return fields
  }

  /** A field that is wrong becomes one that admits anything, so that it is told once. */
  #field(
    input: JsonValue,
    path: JsonPath,
    depth: number,
    place: Place,
    inArray: boolean,
  ): FieldDefinition {
    const problems = this.#problems
    const anything: FieldDefinition = { type: 'any' }
    if (++this.#fields > mostFields) {
      if (this.#fields === mostFields + 1) {
        problems.add(path, `is one too many: ${mostFields} fields, at all depths, are the most`)
      }
      return anything
    }
    if (depth > deepestField) {
      problems.add(path, `lies too deep: ${deepestField} levels are the most`)
      return anything
    }
    if (!isJsonObject(input)) {
      problems.add(path, `must be an object such as { "type": "string" }, not ${shown(input)}`)
      return anything
    }
    checkKeys(input, path, place, inArray, problems)
    const take = taker(input, path, problems)
    const description = take('description', isString, 'a string')
    const required = take('required', isBoolean, 'true or false')
    const nullable = take('nullable', isBoolean, 'true or false')
    take('primary_key', isBoolean, 'true or false')
    take('indexed', isBoolean, 'true or false')
    const type = typeOf(input, path, problems)
    if (type === undefined) return anything

    for (const [key, types] of Object.entries(fittingTypes)) {
      if (Object.hasOwn(input, key) && !types.includes(type)) {
        problems.add([...path, key], `does not fit the type ${type}, only ${types.join(', ')}`)
      }
    }
    const isBound = type === 'integer' ? isSafe : isNumber
    const min = take('min', isBound, boundWords(type))
    const max = take('max', isBound, boundWords(type))
    const shortest = take('min_length', isLength, 'a whole number from 0 on')
    const longest = take('max_length', isLength, 'a whole number from 0 on')
    const pairs = [
      ['min', min, max],
      ['min_length', shortest, longest],
    ] as const
    for (const [key, low, high] of pairs) {
      if (low !== undefined && high !== undefined && low > high) {
        problems.add([...path, key], `is more than the most, ${high}`)
      }
    }

    const values = type === 'enum' ? valuesOf(input, path, problems) : undefined
    const items = own(input, 'items')
    const properties = own(input, 'properties')
    const ifMissing = own(input, 'default')
    if (ifMissing !== undefined) {
      const tell = (_: string, reason: string) => problems.add([...path, 'default'], reason)
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
