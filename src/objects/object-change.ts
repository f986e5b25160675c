// What one object becomes, by its id: replaced, patched, or deleted, in its collection's turn.

import { checkConditions, conditionRules, conditionsIn, timeAfter } from '../conditions.js'
import type { ChangeConditions } from '../conditions.js'
import { checkJson, formatPath } from '../door/json.js'
import { checkArgument, checkOptions } from '../door/options.js'
import { Problems } from '../door/problems.js'
import { aRule } from '../door/rules.js'
import { brief, isPlainObject, isRecord, shown } from '../door/wording.js'
import { LorekeepError } from '../errors.js'
import { aScope, copied, type Scope } from '../scope.js'
import type { Row } from './engine/block.js'
import type { Draft } from './engine/draft.js'
import { versionField } from './engine/ref.js'
import { checkObjects } from './import-request.js'
import { checkId } from './schema/schema.js'
import { isChangeable } from './scope.js'
import type { ObjectChangeOptions, ObjectId, ObjectLimits, StoredObject } from './types.js'

/** What names a version of an object. */
interface Versions {
  version(ref: number, updatedAt: string): string
}

const changeOptions = { scope: aScope, ...conditionRules }

const anId = aRule<ObjectId>(
  'a string or an integer',
  (id) => typeof id === 'string' || typeof id === 'number',
)

/** As an index has it. @throws TypeError */
export function idText(id: ObjectId): string {
  checkArgument('an id', id, anId)
  // What cannot be an id is the id of nothing.
  return checkId(id) === undefined ? String(id) : ''
}

export class ObjectChange {
  readonly #collection: string
  readonly #id: ObjectId
  readonly #text: string
  readonly #scope: Scope
  readonly #conditions: ChangeConditions | undefined
  readonly #versions: Versions

  /** @throws TypeError where an argument of `call` cannot be one */
  constructor(
    call: string,
    collection: string,
    id: ObjectId,
    options: ObjectChangeOptions,
    versions: Versions,
  ) {
    this.#text = idText(id)
    const { scope, ...conditions } = checkOptions(call, options, changeOptions)
    this.#collection = collection
    this.#id = id
    this.#scope = copied(scope)
    this.#conditions = conditionsIn(conditions as ChangeConditions)
    this.#versions = versions
  }

  /**
   * Puts what `change` makes of the object in its place; undefined where there is none. Behind loadValidators().
   * @throws LorekeepError `LK_OBJECT_INVALID`, `LK_PRECONDITION`
   */
  async put(
    draft: Draft,
    limits: ObjectLimits,
    change: (old: Row, idField: string) => unknown,
  ): Promise<StoredObject | undefined> {
    const old = await draft.find(this.#collection, this.#text)
    // What is being deleted would be stored anew, and stay.
    const { deleting = 0 } = draft.collection(this.#collection) ?? {}
    if (old === undefined || old.ref < deleting || !this.#isChangeable(draft, old)) return undefined
    this.#check(old)
    const table = draft.tableOf(old)
    const { schema } = table
    const field = schema.definition.id_field
    const { objects, bytes } = checkObjects(schema, [change(old, field)], limits)
    const [object] = objects
    if (object === undefined || String(schema.idOf(object)) !== this.#text) {
      const message = `is '${this.#text}' and cannot be changed`
      const errors = [{ index: 0, id: this.#id, path: field, message }]
      throw new LorekeepError('LK_OBJECT_INVALID', `${field} cannot be changed`, {
        details: { errors, count: 1 },
      })
    }
    draft.remove(old)
    const ref = draft.takeRef(table)
    const updated_at = timeAfter(old.updated_at, draft.now)
    const row = { ...old, ref, object, id: schema.idOf(object), updated_at }
    draft.put(table, this.#collection, [row], bytes)
    return storedRow(row, schema.definition.name, this.#versions.version(ref, row.updated_at))
  }

  /** False where there is none. @throws LorekeepError `LK_PRECONDITION` */
  async delete(draft: Draft): Promise<boolean> {
    const row = await draft.find(this.#collection, this.#text)
    if (row === undefined || !this.#isChangeable(draft, row)) return false
    this.#check(row)
    draft.remove(row)
    return true
  }

  #isChangeable(draft: Draft, row: Row): boolean {
    return isChangeable(this.#scope, row, draft.tableOf(row).schema.definition.name)
  }

  #check({ ref, id, updated_at }: Row): void {
    if (this.#conditions === undefined) return
    const version = this.#versions.version(ref, updated_at)
    checkConditions(this.#conditions, { version, updatedAt: updated_at }, `the object ${brief(id)}`)
  }
}

/** What is no plain object stays as it is, for the check that follows. */
export function withId(object: object, field: string, id: ObjectId): unknown {
  if (!isPlainObject(object) || Object.hasOwn(object, field)) return object
  return { [field]: id, ...object }
}

/** @throws LorekeepError `LK_OBJECT_REQUEST` where the changes are no object of JSON */
export function checkChanges(changes: unknown): void {
  const problems = new Problems()
  if (isRecord(changes)) checkJson(changes, (path, message) => problems.fail(path, message))
  else problems.fail('', `must be an object, not ${shown(changes)}`)
  problems.throwIfAny('LK_OBJECT_REQUEST')
}

/**
 * Who writes `{ $set: { price: 3 } }` means an update as MongoDB has it. A field of such a name is changed where the
 * object has one. @throws LorekeepError `LK_OBJECT_REQUEST`
 */
export function checkNoOperators(object: object, changes: object): void {
  const problems = new Problems()
  for (const name of Object.keys(changes)) {
    if (!name.startsWith('$') || Object.hasOwn(object, name)) continue
    const message =
      'is no field of the object, and there are no operators: a patch has the fields themselves, as { price: 3 }, and null removes one'
    problems.fail(formatPath([name]), message)
  }
  problems.throwIfAny('LK_OBJECT_REQUEST')
}

function storedRow(row: Row, schema: string, version: string): StoredObject {
  const { id, object, collection, user, created_at, updated_at, metadata } = row
  return structuredClone({
    ...object,
    _id: id,
    _schema: schema,
    _collection: collection,
    _user: user,
    _created_at: created_at,
    _updated_at: updated_at,
    _metadata: { ...metadata, created_at, updated_at, collection },
    [versionField]: version,
  })
}
