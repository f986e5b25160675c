// Field definitions as one ajv validator, and what it finds wrong as sentences.

import {
  Ajv2020,
  type ErrorObject,
  type SchemaObject,
  type FuncKeywordDefinition,
} from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { JsonPath } from '../../door/json.js'
import type { FieldDefinition, FieldType } from '../types.js'
import type { JsonObject } from '../../types.js'
import { placeOf, reasonOf } from './reason.js'

type Fields = Readonly<Record<string, FieldDefinition>>

interface ValidatorOptions {
  /** Refuses undeclared fields, at every depth where some are declared. */
  readonly strict: boolean
  /** May be there without being declared. */
  readonly idField?: string
}

/**
 * True for an object that conforms; otherwise false after at least one report, the last of them
 * that which returned false. The object has to be JSON already: numbers are finite, and nothing
 * holds itself.
 */
type Validator = (
  object: JsonObject,
  report: (path: JsonPath, reason: string) => boolean,
) => boolean

export function compileValidator(fields: Fields, options: ValidatorOptions): Validator {
  // One for each schema: an ajv keeps what it compiled for as long as it lives.
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    messages: false,
    // Else every object has the fields of Object.prototype, such as `constructor`. Costs 70 ns.
    ownProperties: true,
    // The JSON Schema is made here and fits: checking it takes longer than compiling it.
    meta: false,
    validateSchema: false,
    // Those of what is nullable.
    allowUnionTypes: true,
    formats: checkedFormats,
  })
  const budget = { left: 0 }
  addElementsKeyword(ajv, budget)
  addClosedKeyword(ajv)
  const definitions = new Map<unknown, FieldDefinition>()
  const validate = ajv.compile(objectSchema(fields, options, definitions))
  return (object, report) => {
    budget.left = mostErrors
    if (validate(object)) return true
    for (const error of validate.errors ?? []) {
      const { path, value } = placeOf(error, object)
      const reason = reasonOf(error, path, value, definitions.get(error.parentSchema))
      if (!report(path, reason)) break
    }
    return false
  }
}

/** `definitions` is given the field that each part of the JSON Schema was made from. */
function objectSchema(
  fields: Fields,
  { strict, idField }: ValidatorOptions,
  definitions: Map<unknown, FieldDefinition>,
): SchemaObject {
  const entries = Object.entries(fields)
  // fromEntries makes own properties, whatever their names.
  const properties: Record<string, SchemaObject> = Object.fromEntries(
    entries.map(([name, field]) => [name, fieldSchema(field, strict, definitions)]),
  )
  if (idField !== undefined && !Object.hasOwn(properties, idField)) properties[idField] = {}
  const required = entries.filter(([, field]) => field.required).map(([name]) => name)
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    ...(strict && { closed: Object.keys(properties) }),
  }
}

function fieldSchema(
  field: FieldDefinition,
  strict: boolean,
  definitions: Map<unknown, FieldDefinition>,
): SchemaObject {
  const plain = ((): SchemaObject => {
    const { type, min, max, min_length, max_length } = field
    switch (type) {
      case 'number':
      case 'integer': {
        const [least, most] = type === 'integer' ? [-largest, largest] : []
        const minimum = min ?? least
        const maximum = max ?? most
        return {
          type,
          ...(minimum !== undefined && { minimum }),
          ...(maximum !== undefined && { maximum }),
        }
      }
      case 'boolean':
        return { type }
      case 'enum':
        return { enum: field.values ?? [] }
      case 'any':
        return {}
      case 'array':
        return {
          type,
          ...(min_length !== undefined && { minItems: min_length }),
          ...(max_length !== undefined && { maxItems: max_length }),
          ...(field.items && { elements: fieldSchema(field.items, strict, definitions) }),
        }
      case 'object':
        return field.properties === undefined
          ? { type }
          : objectSchema(field.properties, { strict }, definitions)
      default:
        return {
          type: 'string',
          ...(min_length !== undefined && { minLength: min_length }),
          ...(max_length !== undefined && { maxLength: max_length }),
          ...(formatNames[type] !== undefined && { format: formatNames[type] }),
        }
    }
  })()
  const schema = field.nullable === true ? orNull(plain) : plain
  definitions.set(schema, field)
  return schema
}

/** All other keywords are about values of one type. */
function orNull(schema: SchemaObject): SchemaObject {
  const { type, enum: values } = schema as { type?: string; enum?: readonly unknown[] }
  if (values !== undefined) return { enum: [...new Set([...values, null])] }
  return { ...schema, type: [type, 'null'] }
}

const largest = Number.MAX_SAFE_INTEGER

/**
 * Bad elements of one array, and undeclared fields of one object, that are told. ajv's own keywords
 * tell all, which may be a million.
 */
const mostOfOne = 20

/** Bad elements of all arrays in an object that are told: arrays in arrays would multiply. */
const mostErrors = 100

interface Budget {
  left: number
}

/** `items` with an end: the elements after the last one told are not looked at. */
function addElementsKeyword(ajv: Ajv2020, budget: Budget): void {
  ajv.addKeyword({
    keyword: 'elements',
    type: 'array',
    schemaType: 'object',
    errors: 'full',
    compile(schema: SchemaObject) {
      const validate = ajv.compile(schema)
      const elements: ReturnType<NonNullable<FuncKeywordDefinition['compile']>> = (
        array: readonly unknown[],
        context,
      ) => {
        const errors: ErrorObject[] = []
        let bad = 0
        for (let i = 0; i < array.length && bad < mostOfOne; i++) {
          // The first is told always: what is refused has a reason.
          if (bad > 0 && budget.left <= 0) break
          if (validate(array[i])) continue
          bad++
          budget.left--
          // Again, for the errors with their place: it is not made for good elements.
          const instancePath = `${context?.instancePath ?? ''}/${i}`
          validate(array[i], {
            instancePath,
            parentData: array as unknown[],
            parentDataProperty: i,
            rootData: context?.rootData ?? {},
            dynamicAnchors: {},
          })
          errors.push(...(validate.errors ?? []))
        }
        elements.errors = errors
        return bad === 0
      }
      return elements
    },
  })
}

/** `additionalProperties: false` with an end, and its errors. */
function addClosedKeyword(ajv: Ajv2020): void {
  ajv.addKeyword({
    keyword: 'closed',
    type: 'object',
    schemaType: 'array',
    errors: 'full',
    compile(names: readonly string[], parentSchema) {
      const known = new Set(names)
      const closed: ReturnType<NonNullable<FuncKeywordDefinition['compile']>> = (
        object: JsonObject,
        context,
      ) => {
        const errors: ErrorObject[] = []
        for (const name in object) {
          if (known.has(name) || !Object.hasOwn(object, name)) continue
          errors.push({
            keyword: 'additionalProperties',
            instancePath: context?.instancePath ?? '',
            schemaPath: '#/closed',
            params: { additionalProperty: name },
            schema: false,
            parentSchema,
            data: object,
          })
          if (errors.length === mostOfOne) break
        }
        closed.errors = errors
        return errors.length === 0
      }
      return closed
    },
  })
}

const formatNames: {
  readonly [Type in FieldType]?: 'date' | 'date-time' | 'uri' | 'email' | 'uuid'
} = { date: 'date', timestamp: 'date-time', uri: 'uri', email: 'email', uuid: 'uuid' }

/** Past some millions of characters the patterns of the formats overflow the stack. */
const longestFormatted = 65_536

/**
 * ajv-formats in full mode. Measured with the inputs that hurt such patterns most: they grow with
 * the length, no faster; 100,000 characters take 7 ms at worst (a timestamp made of spaces), a
 * million 55 ms.
 */
const checkedFormats = Object.fromEntries(
  Object.values(formatNames).map((name) => {
    const format = formats.default.get(name, 'full') as Checkable | { validate: Checkable }
    const check = 'validate' in format ? format.validate : format
    const isValid = check instanceof RegExp ? (text: string) => check.test(text) : check
    return [name, (text: string) => text.length <= longestFormatted && isValid(text)]
  }),
)

type Checkable = RegExp | ((text: string) => boolean)
