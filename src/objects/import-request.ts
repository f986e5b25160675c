// An import as it comes in, checked: the request, each object against its schema, the ids against
// each other. Everything that is wrong is told at once.

import { Members } from '../door/members.js'
import { checkOptions } from '../door/options.js'
import { maxErrors, Problems, type Problem } from '../door/problems.js'
import { aList, anObject, aText, oneOf, aRule, wrongName } from '../door/rules.js'
import { brief, isRecord, joined } from '../door/wording.js'
import { LorekeepError } from '../errors.js'
import { checkJson } from '../door/json.js'
import { aScope, copied } from '../scope.js'
import type { CompiledSchema } from './schema/schema.js'
import type { ObjectId, ObjectImport, ObjectImportOptions, ObjectLimits } from './types.js'
import type { JsonObject } from '../types.js'

// What this many bytes of JSON can be at most shorter than: an escape takes six bytes.
const longestEscape = 6

// Each object has it, and each block of objects holds it: a megabyte there took seconds for a
// thousand small objects.
const maxMetadataBytes = 16 * 1024

/** Members of `_metadata` that are the system's. */
const systemMetadata = ['created_at', 'updated_at', 'collection']

/** @throws LorekeepError `LK_OBJECT_REQUEST` with `details.errors`, `LK_OBJECT_TOO_LARGE` */
export function parseImport(batch: unknown, limits: ObjectLimits): ObjectImport {
  const problems = new Problems()
  const given = new Members(batch, '', problems, 'an import, an object')
  given.need('schema_name', aText)
  const values = given.need('values', aList)
  if (values?.length === 0) given.fail('values', 'is empty: there is nothing to import')
  const metadata = given.need('metadata', aMetadata)
  if (metadata !== undefined) checkMetadata(metadata, problems)
  given.end()
  problems.throwIfAny('LK_OBJECT_REQUEST')
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

/** What is wrong with one object of a batch. */
interface ObjectProblem extends Problem {
  /** In the batch. */
  readonly index: number
  readonly id?: ObjectId
}

interface CheckedObjects {
  /** As they are to be stored. */
  readonly objects: JsonObject[]
  /** About what they have as JSON. */
  readonly bytes: number
}

/**
 * @throws LorekeepError `LK_OBJECT_INVALID`: `details.count` says how many objects are bad
 */
export function checkObjects(
  schema: CompiledSchema,
  values: readonly unknown[],
  { maxObjectBytes }: ObjectLimits,
): CheckedObjects {
  const errors = new Problems<ObjectProblem>()
  const objects: JsonObject[] = []
  let all = 0
  let count = 0
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    // A bad object counts once, however much is wrong with it.
    let reported = false
    const report = (path: string, message: string) => {
      if (!reported) count++
      reported = true
      if (errors.isFull) return errors.omit()
      const id = idIn(value, schema.definition.id_field)
      errors.add({ index, ...(id !== undefined && { id }), path, message })
    }
    const object = schema.check(value, report, maxObjectBytes)
    if (object === undefined) continue
    const bytes = sizeOf(object, maxObjectBytes)
    all += bytes
    if (bytes <= maxObjectBytes) objects.push(object)
    else report('', `has ${bytes} bytes as JSON; at most ${maxObjectBytes} are accepted`)
  }
  if (count === 0) return { objects, bytes: all }
  const { details } = errors
  const [first] = details.errors
  const place = first && [`object ${first.index}`, first.path].filter((part) => part !== '')
  const more = count > 1 ? ` (and ${count - 1} more objects)` : ''
  throw new LorekeepError('LK_OBJECT_INVALID', `${place?.join(', ')}: ${first?.message}${more}`, {
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
  const some = ids.slice(0, 5).map(brief)
  const more = ids.length > 5 ? ` and ${ids.length - 5} more` : ''
  return new LorekeepError('LK_OBJECT_DUPLICATE', `${some.join(', ')}${more} ${where}`, {
    details: { ids: ids.slice(0, maxErrors), count: ids.length },
  })
}

/** Why it is no name of a collection. */
export function checkCollection(name: unknown): string | undefined {
  return wrongName(name, maxCollectionBytes)
}

const maxNameBytes = 1024
const maxCollectionBytes = 256

const aMetadata = aRule<object>('an object with id, user and collection', isRecord)

function checkMetadata(value: unknown, problems: Problems): void {
  const metadata = new Members(value, 'metadata', problems)
  const names = { id: maxNameBytes, user: maxNameBytes, collection: maxCollectionBytes }
  for (const [name, maxBytes] of Object.entries(names)) {
    const wrong = wrongName(metadata.get(name), maxBytes)
    if (wrong !== undefined) metadata.fail(name, wrong)
  }
  const custom = metadata.take('metadata', anObject)
  if (custom !== undefined) checkCustom(custom, 'metadata.metadata', problems)
  metadata.end()
}

function checkCustom(custom: object, path: string, problems: Problems): void {
  const isJson = checkJson(
    custom,
    (inside, reason) => problems.fail(joined(path, inside), reason),
    { maxBytes: maxMetadataBytes },
  )
  const bytes = isJson ? Buffer.byteLength(JSON.stringify(custom)) : 0
  if (bytes > maxMetadataBytes) {
    problems.fail(path, `has ${bytes} bytes as JSON; at most ${maxMetadataBytes} are accepted`)
  }
  for (const name of systemMetadata) {
    if (!Object.hasOwn(custom, name)) continue
    problems.fail(`${path}.${name}`, 'is set by the store under _metadata: name it otherwise')
  }
}

/** The bytes of an object as JSON: about, and exactly where they may be too many. */
function sizeOf(object: JsonObject, maxBytes: number): number {
  let estimate = 2
  for (const name of Object.keys(object)) {
    const value = object[name]
    estimate += name.length + 4
    if (typeof value === 'string') estimate += value.length
    else if (typeof value === 'object') estimate += JSON.stringify(value).length
    else estimate += 24
  }
  if (estimate * longestEscape <= maxBytes) return estimate
  return Buffer.byteLength(JSON.stringify(object))
}

function idIn(value: unknown, field: string): ObjectId | undefined {
  if (!isRecord(value) || !Object.hasOwn(value, field)) return undefined
  const { [field]: id } = value
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

/** What to do with an id that the collection has. @throws TypeError */
export function checkImportOptions(options: ObjectImportOptions): Required<ObjectImportOptions> {
  const { onDuplicate = 'reject', scope } = checkOptions('import()', options, importOptions)
  return { onDuplicate, scope: copied(scope) }
}

const importOptions = { onDuplicate: oneOf('reject', 'replace', 'skip'), scope: aScope }
