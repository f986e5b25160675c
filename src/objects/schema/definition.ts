// Definitions of schemas: from what a client writes to the plain form, or to everything that is
// wrong with it.

import { parseJson } from '../../json-text.js'
import { filledDefault } from './defaults.js'
import { FieldReader, wrongField } from './field-definition.js'
import { wrongFieldName } from './field-keys.js'
import { wrongIndexPath, wrongTextPath, type IndexPathOptions } from './index-path.js'
import { checkJson, type JsonPath } from '../../door/json.js'
import { shown } from '../../door/wording.js'
import { knownLanguages, languageNamed, noLanguage } from '../../text/language-names.js'
import type {
  FieldDefinition,
  FieldType,
  IndexDefinition,
  SchemaDefinition,
  TextIndex,
} from '../types.js'
import type { JsonObject, JsonValue } from '../../types.js'
import { compileValidator } from './validators.js'
import { isRecord } from '../../door/wording.js'
import { Members, own } from '../../door/members.js'
import { aCount, aListOfTexts, anObject, aString, aText } from '../../door/rules.js'
import { Problems } from '../../door/problems.js'

type Fields = Readonly<Record<string, FieldDefinition>>

const mostIndexes = 32
const longestNameBytes = 256
/** Fields 16 deep take two levels each, and the deepest may have a default 48 deep. */
const deepestInput = 100
/** A million keys that are none took 13 s to name. */
const longestDefinition = 1024 * 1024

/**
 * A fresh, frozen definition with its keys in one order. Reads `fields` as a map and as an array,
 * and takes its own result again.
 * @throws LorekeepError `LK_SCHEMA_INVALID` with the reasons in `details.errors`
 */
export function parseSchemaDefinition(input: unknown): SchemaDefinition {
  const problems = new Problems()
  if (!isRecord(input)) {
    problems.fail('', `must be the definition of a schema, an object, not ${shown(input)}`)
  }
  const given = problems.count === 0 ? plainCopy(input, problems) : undefined
  if (!isRecord(given)) throw problems.error('LK_SCHEMA_INVALID')
  const members = new Members(given, '', problems)
  problems.unknown(given, keys)
  const name = schemaName(given, problems)
  const description = members.take('description', aString)
  const strict = members.boolean('strict') ?? false
  const indexUndeclared = members.boolean('index_undeclared') ?? false
  if (indexUndeclared && strict) {
    problems.fail('index_undeclared', 'has no meaning where strict refuses undeclared fields')
  }
  const generateIds = members.boolean('generate_ids') ?? false
  const reader = new FieldReader(problems)
  const fields = reader.read(own(given, 'fields'), ['fields'])
  const idField = idFieldOf(given, fields, reader, generateIds, problems)
  const options = { idField, undeclared: indexUndeclared }
  const indexes = indexesOf(given, fields, reader.indexed, options, problems)
  // Compiling takes definitions that are right.
  if (problems.count === 0) checkDefaults(reader.defaults, strict, problems)
  if (problems.count > 0) throw problems.error('LK_SCHEMA_INVALID')
  const parsed = freeze({
    name,
    ...(description !== undefined && { description }),
    fields,
    indexes,
    ...(indexUndeclared && { index_undeclared: true as const }),
    strict,
    id_field: idField,
    generate_ids: generateIds,
  })
  // Of what is stored, which is read again: it has more keys than what was given.
  if (Buffer.byteLength(JSON.stringify(parsed)) <= longestDefinition) return parsed
  problems.fail('', `has over ${longestDefinition} bytes as JSON; at most so many are accepted`)
  throw problems.error('LK_SCHEMA_INVALID')
}

const keys = [
  ...['name', 'description', 'fields', 'indexes', 'index_undeclared', 'strict', 'id_field'],
  'generate_ids',
]

/** Its own copy, which nobody changes later. -0 is 0 in it, as it would be when it is read back. */
function plainCopy(input: unknown, problems: Problems): JsonValue | undefined {
  const tell = (path: string, message: string) => problems.fail(path, message)
  const bounds = { maxDepth: deepestInput, maxReports: 100, maxBytes: longestDefinition }
  const isJson = checkJson(input, tell, bounds)
  return isJson ? (parseJson(JSON.stringify(input)) as JsonValue) : undefined
}

function schemaName(given: JsonObject, problems: Problems): string {
  const name = own(given, 'name')
  if (typeof name !== 'string') {
    problems.fail(
      'name',
      name === undefined ? 'is missing' : `must be a string, not ${shown(name)}`,
    )
    return ''
  }
  if (name === '') problems.fail('name', 'must not be empty')
  // Collections count their objects by it, in a plain object.
  if (name === '__proto__') problems.fail('name', 'is a name that no schema can have')
  if (Buffer.byteLength(name) > longestNameBytes) {
    problems.fail('name', `has more than ${longestNameBytes} bytes`)
  }
  return name
}

const idTypes: readonly FieldType[] = ['string', 'text', 'integer', 'uuid', 'uri', 'email', 'enum']

/** The lengths that ids of hyperid have: 22 characters, a dash and a number of up to ten digits. */
const shortestGenerated = 24
const longestGenerated = 33

function idFieldOf(
  given: JsonObject,
  fields: Fields,
  { primaryKeys, paths }: FieldReader,
  generateIds: boolean,
  problems: Problems,
): string {
  const named = new Members(given, '', problems).take('id_field', aString)
  const [primary, ...others] = primaryKeys
  if (others.length > 0) {
    const all = primaryKeys.map((key) => `'${key}'`).join(', ')
    problems.fail('fields', `have several primary keys, ${all}: an object has one id`)
  }
  if (named !== undefined && primary !== undefined && named !== primary) {
    problems.fail('id_field', `is not the primary key, '${primary}'`)
  }
  const idField = named ?? primary ?? 'id'
  const wrong = wrongFieldName(idField)
  if (wrong !== undefined) problems.fail('id_field', wrong)
  if (idField.startsWith('_'))
    problems.fail('id_field', "begins with '_', as the system's own fields do")
  if (!Object.hasOwn(fields, idField) || fields[idField] === wrongField) return idField

  const path = paths.get(idField) ?? ['fields', idField]
  const { type, nullable, default: ifMissing, ...field } = fields[idField] as FieldDefinition
  if (!idTypes.includes(type)) {
    problems.fail([...path, 'type'], `is ${type}: an id is one of ${idTypes.join(', ')}`)
  }
  if (nullable) problems.fail([...path, 'nullable'], 'would let objects be without an id')
  if (ifMissing !== undefined) {
    problems.fail([...path, 'default'], 'would give every object the same id')
  }
  if (!generateIds) return idField
  const fits =
    (type === 'string' || type === 'text') &&
    (field.min_length ?? 0) <= shortestGenerated &&
    (field.max_length ?? Infinity) >= longestGenerated
  if (!fits) {
    const lengths = `${shortestGenerated} to ${longestGenerated} characters`
    problems.fail('generate_ids', `makes strings of ${lengths}, which '${idField}' does not admit`)
  }
  return idField
}

function indexesOf(
  given: JsonObject,
  fields: Fields,
  indexed: readonly string[],
  options: IndexPathOptions,
  problems: Problems,
): readonly IndexDefinition[] {
  const listed = own(given, 'indexes')
  if (listed === undefined) return indexed
  if (!Array.isArray(listed)) {
    problems.fail('indexes', `must be an array of paths, not ${shown(listed)}`)
    return []
  }
  const paths = new Set<string>()
  const indexes: IndexDefinition[] = []
  for (const [i, index] of (listed as readonly JsonValue[]).entries()) {
    if (isRecord(index)) {
      if (indexes.some((other) => typeof other !== 'string')) {
        problems.fail(['indexes', i], 'is a second index of text: a schema has one at most')
      }
      indexes.push(textIndexOf(index, ['indexes', i], fields, options, problems))
      continue
    }
    const wrong =
      typeof index !== 'string'
        ? `must be a path or { "text": [paths] }, not ${shown(index)}`
        : paths.has(index)
          ? 'comes a second time'
          : wrongIndexPath(index, fields, options)
    if (wrong !== undefined) problems.fail(['indexes', i], wrong)
    if (typeof index !== 'string' || paths.has(index)) continue
    paths.add(index)
    indexes.push(index)
  }
  // A field may say `indexed` and be listed too.
  indexes.push(...indexed.filter((name) => !paths.has(name)))
  if (indexes.length > mostIndexes) {
    problems.fail('indexes', `are ${indexes.length}: ${mostIndexes} are the most`)
  }
  return indexes
}

function textIndexOf(
  input: JsonObject,
  at: JsonPath,
  fields: Fields,
  options: IndexPathOptions,
  problems: Problems,
): TextIndex {
  const given = new Members(input, at, problems)
  const paths = given.need('text', aListOfTexts) ?? []
  if (paths.length === 0 && Array.isArray(own(input, 'text'))) given.fail('text', 'names no field')
  for (const [n, path] of paths.entries()) {
    const wrong =
      paths.indexOf(path) < n ? 'comes a second time' : wrongTextPath(path, fields, options)
    if (wrong !== undefined) problems.fail([...at, 'text', n], wrong)
  }
  const weights = given.take('weights', anObject)
  for (const [path, weight] of Object.entries(weights ?? {})) {
    if (!paths.includes(path)) problems.fail([...at, 'weights', path], "is not among 'text'")
    else if (!aWeight.holds(weight)) {
      problems.fail([...at, 'weights', path], `must be ${aWeight.expected}, not ${shown(weight)}`)
    }
  }
  const named = given.take('language', aText) ?? defaultLanguage
  const language = languageNamed(named)
  if (language === undefined) {
    given.fail('language', `is none that is known: ${[...knownLanguages, noLanguage].join(', ')}`)
  }
  given.end()
  const kept = paths.flatMap((path) => {
    const weight = weights === undefined ? undefined : own(weights, path)
    return weight === undefined || weight === 1 ? [] : [[path, weight as number] as const]
  })
  return {
    text: [...paths],
    ...(kept.length > 0 && { weights: Object.fromEntries(kept) }),
    language: language ?? defaultLanguage,
  }
}

const defaultLanguage = 'en'
const aWeight = aCount(1, 1000)

/** All at once: each is the one field of its name in an object that has them all. */
function checkDefaults(
  defaults: FieldReader['defaults'],
  strict: boolean,
  problems: Problems,
): void {
  if (defaults.length === 0) return
  const fields = defaults.map(({ field }, i) => [String(i), field] as const)
  const values = fields.map(([name, field]) => [name, filledDefault(field) as JsonValue] as const)
  const validate = compileValidator(Object.fromEntries(fields), { strict })
  validate(Object.fromEntries(values), ([name, ...inside], reason) => {
    const path = defaults[Number(name)]?.path ?? []
    problems.fail([...path, ...inside], reason)
    return true
  })
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) freeze(inner as object)
  }
  return Object.freeze(value)
}
