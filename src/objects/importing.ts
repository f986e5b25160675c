// What an import does in its collection's turn: the objects that it replaces go, and its own come.

import { timeAfter } from '../conditions.js'
import { LorekeepError } from '../errors.js'
import type { Scope } from '../scope.js'
import { collectionThere, makeCollection } from './collections.js'
import type { Row } from './engine/block.js'
import type { Draft } from './engine/draft.js'
import type { Table } from './engine/state.js'
import { checkObjects, duplicates, idsOf } from './import-request.js'
import { noSchema } from './query/query-request.js'
import type { CompiledSchema } from './schema/schema.js'
import { checkOwners, isSeen } from './scope.js'
import type { ObjectId, ObjectImport, ObjectImportOptions, ObjectImportResult } from './types.js'
import type { ObjectLimits } from './types.js'
import type { JsonObject } from '../types.js'

/** Of an import, by one version of its schema. */
type Checked =
  | {
      readonly schema: CompiledSchema
      readonly objects: JsonObject[]
      readonly bytes: number
      readonly ids: ObjectId[]
    }
  | { readonly schema: CompiledSchema; readonly error: unknown }

interface Conditions {
  readonly onDuplicate: NonNullable<ObjectImportOptions['onDuplicate']>
  readonly scope: Scope
  readonly limits: ObjectLimits
  /** Imports make no collections. */
  readonly isDeclared: boolean
}

/** A batch on its way into the store. Behind loadValidators(). */
export class Importing {
  readonly #batch: ObjectImport
  readonly #conditions: Conditions
  #checked: Checked | undefined

  constructor(batch: ObjectImport, conditions: Conditions) {
    this.#batch = batch
    this.#conditions = conditions
  }

  /**
   * Before its turn; in its turn it is checked again where the schema is another one by then. What is refused is refused
   * in its turn: the state may be old that it was found out on.
   */
  check(schema: CompiledSchema): void {
    try {
      const { objects, bytes } = checkObjects(schema, this.#batch.values, this.#conditions.limits)
      this.#checked = { schema, objects, bytes, ids: idsOf(schema, objects) }
    } catch (error) {
      this.#checked = { schema, error }
    }
  }

  /** @throws LorekeepError `LK_OBJECT_*`, `LK_SCHEMA_NOT_FOUND`, `LK_COLLECTION_NOT_FOUND` */
  async commit(draft: Draft): Promise<ObjectImportResult> {
    const { metadata, schema_name } = this.#batch
    const { collection } = metadata
    const { onDuplicate, isDeclared } = this.#conditions
    const table = draft.table(schema_name) ?? noSchema(schema_name)
    const { objects, bytes, ids } = this.#checkedBy(table.schema)
    if (isDeclared && collectionThere(draft, collection) === undefined) {
      throw new LorekeepError('LK_COLLECTION_NOT_FOUND', `'${collection}' was not declared`)
    }
    const found = await draft.findAll(collection, ids)
    // What is being deleted is there no more: the one that comes stays.
    const { deleting = 0 } = draft.collection(collection) ?? {}
    const old = found?.map((row) => (row === undefined || row.ref < deleting ? undefined : row))
    if (old !== undefined) this.#checkOld(draft, ids, old)
    makeCollection(draft, collection)
    const rows: Row[] = []
    let replaced = 0
    for (let n = 0; n < objects.length; n++) {
      const before = old?.[n]
      if (before !== undefined && onDuplicate === 'skip') continue
      const there = found?.[n]
      if (there !== undefined) draft.remove(there)
      if (before !== undefined) replaced++
      rows.push(this.#row(draft, table, ids[n] as ObjectId, objects[n] as JsonObject, before))
    }
    draft.put(table, collection, rows, bytes)
    const skipped = objects.length - rows.length
    const imported = rows.length
    return { id: metadata.id, collection, schema_name, imported, replaced, skipped, ids }
  }

  #checkedBy(schema: CompiledSchema) {
    if (this.#checked?.schema !== schema) this.check(schema)
    // As check() has left it.
    const checked = this.#checked as Checked
    if ('error' in checked) throw checked.error
    return checked
  }

  #checkOld(draft: Draft, ids: readonly ObjectId[], old: readonly (Row | undefined)[]): void {
    const { scope, onDuplicate } = this.#conditions
    // Skipped for one that is hidden, an object would be nowhere.
    const taken = ids.filter((_, n) => {
      const row = old[n]
      if (row === undefined) return false
      const schema = draft.tableOf(row).schema.definition.name
      return onDuplicate === 'reject' || !isSeen(scope, row, schema)
    })
    if (taken.length > 0) throw duplicates(taken, `in '${this.#batch.metadata.collection}'`)
    if (onDuplicate !== 'replace') return
    checkOwners(
      scope,
      old.filter((row) => row !== undefined),
    )
  }

  #row(draft: Draft, table: Table, id: ObjectId, object: JsonObject, before: Row | undefined): Row {
    const { collection, user, metadata } = this.#batch.metadata
    const { now } = draft
    return {
      ref: draft.takeRef(table),
      id,
      object,
      collection,
      user,
      created_at: before?.created_at ?? now,
      updated_at: timeAfter(before?.updated_at, now),
      metadata,
    }
  }
}
