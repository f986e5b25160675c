// An import as it comes in, checked: the request, each object against its schema, the ids against
// each other. Everything that is wrong is told at once.

import { addUnknown, ErrorList, maxErrors } from '../error-list.js'
import { LorekeepError } from '../errors.js'
import { checkJson } from './json.js'
import { shown } from './schema/reason.js'
import { checkScope } from './scope.js'
import type { CompiledSchema } from './schema/schema.js'
import type {
  JsonObject,
  ObjectId,
  ObjectImport,
  ObjectImportOptions,
  ObjectLimits,
} from './types.js'

// What this many bytes of JSON can be at most shorter than: an escape takes six bytes.
const longestEscape = 6

const members = ['metadata', 'schema_name', 'values']
const metadataMembers = ['id', 'user', 'collection', 'metadata']

// Each object has it, and each block of objects holds it: a megabyte there took seconds for a
// thousand small objects.
const maxMetadataBytes = 16 * 1024

/** Members of `_metadata` that are the system's. */
const systemMetadata = ['created_at', 'updated_at', 'collection']

/** @throws LorekeepError `LK_OBJECT_REQUEST` with `details.errors`, `LK_OBJECT_TOO_LARGE` */
export function parseImport(batch: unknown, limits: ObjectLimits): ObjectImport {
  const errors = new ErrorList<Problem>()
  const fail = (path: string, message: string) => errors.add({ path, message })
  const given = isRecord(batch) ? batch : {}
  if (!isRecord(batch)) fail('', `an import must be an object, not ${shown(batch)}`)
  checkMembers(given, members, '', errors)
  const { metadata, schema_name, values } = given
  if (typeof schema_name !== 'string' || schema_name === '') {
    fail('schema_name', 'must be the name of a schema')
  }
  if (!isRecord(metadata)) fail('metadata', 'must be an object with id, user and collection')
  else {
    checkMembers(metadata, metadataMembers, 'metadata.', errors)
    for (const name of ['id', 'user'] as const) {
      const reason = checkName(metadata[name], maxNameBytes)
      if (reason !== undefined) fail(`metadata.${name}`, reason)
    }
    const reason = checkCollection(metadata['collection'])
    if (reason !== undefined) fail('metadata.collection', reason)
    checkCustom(metadata['metadata'], fail)
  }
  if (!Array.isArray(values)) fail('values', 'must be an array of objects')
  else if (values.length === 0) fail('values', 'is empty: there is nothing to import')
  if (errors.count > 0) throw requestError(errors)
  const { length } = values as unknown[]
  if (length > limits.maxBatchObjects) {
    throw new LorekeepError(
      'LK_OBJECT_TOO_LARGE',
      `${length} objects; at most ${limits.maxBatchObjects} are accepted at a time`,
      { details: { count: length, maxBatchObjects: limits.maxBatchObjects } },
    )
  }
  return batch as ObjectImport
}

/**
 * The objects as they are to be stored.
 * @throws LorekeepError `LK_OBJECT_INVALID`: `details.count` says how many objects are bad
 */
export function checkObjects(
  schema: CompiledSchema,
  values: readonly unknown[],
  { maxObjectBytes }: ObjectLimits,
): JsonObject[] {
  const errors = new ErrorList<{ index: number; id?: ObjectId; path: string; reason: string }>()
  const objects: JsonObject[] = []
  let count = 0
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    // A bad object counts once, however much is wrong with it.
    let reported = false
    const report = (path: string, reason: string) => {
      if (!reported) count++
      reported = true
      if (errors.isFull) return errors.omit()
      const id = idIn(value, schema.definition.id_field)
      errors.add({ index, ...(id !== undefined && { id }), path, reason })
    }
    const object = schema.check(value, report, maxObjectBytes)
    if (object === undefined) continue
    const bytes = excess(object, maxObjectBytes)
    if (bytes === undefined) objects.push(object)
    else report('', `has ${bytes} bytes as JSON; at most ${maxObjectBytes} are accepted`)
  }
  if (count === 0) return objects
  const { details } = errors
  const [first] = details.errors
  const place = first && [`object ${first.index}`, first.path].filter((part) => part !== '')
  const more = count > 1 ? ` (and ${count - 1} more objects)` : ''
  throw new LorekeepError('LK_OBJECT_INVALID', `${place?.join(', ')}: ${first?.reason}${more}`, {
    details: { ...details, count },
  })
}

/** The ids of a batch. @throws LorekeepError `LK_OBJECT_DUPLICATE` where one is there twice */
export function idsOf(schema: CompiledSchema, objects: readonly JsonObject[]): ObjectId[] {
  const ids: ObjectId[] = []
  const seen = new Set<string>()
  const twice = new Map<string, ObjectId>()
  for (const object of objects) {
    const id = schema.idOf(object)
    const text = String(id)
    if (seen.has(text)) twice.set(text, id)
    seen.add(text)
    ids.push(id)
  }
  if (twice.size > 0) throw duplicates([...twice.values()], 'more than once in the batch')
  return ids
}

export function duplicates(ids: readonly ObjectId[], where: string): LorekeepError {
  const some = ids.slice(0, 5).map((id) => shown(id))
  const more = ids.length > 5 ? ` and ${ids.length - 5} more` : ''
  return new LorekeepError('LK_OBJECT_DUPLICATE', `${some.join(', ')}${more} ${where}`, {
    details: { ids: ids.slice(0, maxErrors), count: ids.length },
  })
}

/** Why it is no name of a collection. */
export function checkCollection(name: unknown): string | undefined {
  return checkName(name, maxCollectionBytes)
}

const maxNameBytes = 1024
const maxCollectionBytes = 256

function checkName(name: unknown, maxBytes: number): string | undefined {
  if (typeof name !== 'string') return `must be a string, not ${shown(name)}`
  if (name === '') return 'must not be empty'
  if (!name.isWellFormed()) return 'has half of a surrogate pair'
  const bytes = Buffer.byteLength(name)
  return bytes > maxBytes ? `has ${bytes} bytes; at most ${maxBytes} are accepted` : undefined
}

function checkCustom(custom: unknown, fail: (path: string, message: string) => void): void {
  if (custom === undefined) return
  if (!isRecord(custom)) {
    fail('metadata.metadata', `must be an object, not ${shown(custom)}`)
    return
  }
  const isJson = checkJson(
    custom,
    (path, reason) => fail(joined('metadata.metadata', path), reason),
    { maxBytes: maxMetadataBytes },
  )
  const bytes = isJson ? Buffer.byteLength(JSON.stringify(custom)) : 0
  if (bytes > maxMetadataBytes) {
    fail(
      'metadata.metadata',
      `has ${bytes} bytes as JSON; at most ${maxMetadataBytes} are accepted`,
    )
  }
  for (const name of systemMetadata) {
    if (Object.hasOwn(custom, name)) {
      fail(`metadata.metadata.${name}`, 'is set by the store under _metadata: name it otherwise')
    }
  }
}

function checkMembers(
  record: Readonly<Record<string, unknown>>,
  known: readonly string[],
  prefix: string,
  errors: ErrorList<Problem>,
): void {
  addUnknown(errors, record, known, (name) => ({
    path: prefix + name,
    message: `is unknown; there are ${known.join(', ')}`,
  }))
}

function requestError(errors: ErrorList<Problem>): LorekeepError {
  const wording = ({ path, message }: Problem) => (path === '' ? message : `${path} ${message}`)
  const { details } = errors
  return new LorekeepError('LK_OBJECT_REQUEST', errors.sentence(wording), { details })
}

interface Problem {
  readonly path: string
  readonly message: string
}

/** The bytes of an object that is too large. */
function excess(object: JsonObject, maxBytes: number): number | undefined {
  let estimate = 2
  for (const name of Object.keys(object)) {
    const value = object[name]
    estimate += name.length + 4
    if (typeof value === 'string') estimate += value.length
    else if (typeof value === 'object') estimate += JSON.stringify(value).length
    else estimate += 24
  }
  if (estimate * longestEscape <= maxBytes) return undefined
  const bytes = Buffer.byteLength(JSON.stringify(object))
  return bytes > maxBytes ? bytes : undefined
}

function idIn(value: unknown, field: string): ObjectId | undefined {
  if (!isRecord(value) || !Object.hasOwn(value, field)) return undefined
  const { [field]: id } = value
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

function joined(prefix: string, path: string): string {
  return path === '' || path.startsWith('[') ? prefix + path : `${prefix}.${path}`
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What to do with an id that the collection has. @throws TypeError */
export function checkOptions(options: ObjectImportOptions): Required<ObjectImportOptions> {
  const { onDuplicate = 'reject', scope = {}, ...others } = options
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) {
    throw new TypeError(`an import has no option '${unknown}'; there are onDuplicate and scope`)
  }
  checkScope(scope)
  if (['reject', 'replace', 'skip'].includes(onDuplicate)) return { onDuplicate, scope }
  throw new TypeError(`onDuplicate is 'reject', 'replace' or 'skip', not ${shown(onDuplicate)}`)
}
