// What an ObjectStore does, as plain functions on maps, and the operations that both are put to.

import { LorekeepError } from '../../src/errors.js'
import '../fixtures/regex-engine.js'
import { parseFilter } from '../../src/objects/filter/filter.js'
import { matches } from '../objects/filter/oracle.js'
import { mergePatch } from '../../src/objects/merge-patch.js'
import { compileSchema } from '../../src/objects/schema/schema.js'
import { loadValidators } from '../../src/objects/schema/validators.js'
import { parseSchemaDefinition } from '../../src/objects/schema/definition.js'
import type { ObjectImportOptions, ObjectStore, SchemaDefinition } from '../../src/objects/types.js'
import type { JsonObject } from '../../src/types.js'

await loadValidators()

export interface ModelObject {
  readonly schema: string
  readonly collection: string
  readonly id: string | number
  readonly object: JsonObject
  readonly source: string
}

/** Never changed: an operation makes the next one. */
export interface Model {
  readonly schemas: ReadonlyMap<string, SchemaDefinition>
  readonly collections: ReadonlySet<string>
  /** By collection and id, in the order in which they were stored. */
  readonly objects: ReadonlyMap<string, ModelObject>
}

export type Operation =
  | {
      readonly type: 'import'
      readonly schema: string
      readonly collection: string
      readonly values: readonly JsonObject[]
      readonly source: string
      readonly onDuplicate: NonNullable<ObjectImportOptions['onDuplicate']>
    }
  | {
      readonly type: 'replace' | 'patch'
      readonly collection: string
      readonly id: string | number
      readonly object: JsonObject
    }
  | { readonly type: 'delete'; readonly collection: string; readonly id: string | number }
  | { readonly type: 'define'; readonly definition: { readonly name: string } }
  | { readonly type: 'drop'; readonly schema: string }
  | { readonly type: 'deleteCollection'; readonly collection: string }

export const emptyModel: Model = { schemas: new Map(), collections: new Set(), objects: new Map() }

const keyOf = (collection: string, id: string | number) => JSON.stringify([collection, String(id)])

/** What comes of an operation: a code, or what it resolves with, in few words. */
export type Outcome = string

export function applied(model: Model, operation: Operation): readonly [Model, Outcome] {
  switch (operation.type) {
    case 'import':
      return imported(model, operation)
    case 'replace':
    case 'patch': {
      const { collection, id, type } = operation
      const key = keyOf(collection, id)
      const old = model.objects.get(key)
      if (old === undefined) return [model, 'undefined']
      const given =
        type === 'replace'
          ? { id: old.id, ...operation.object }
          : mergePatch(old.object, operation.object)
      const object = checked(model, old.schema, given)
      if (object === undefined || String(object['id']) !== String(id)) {
        return [model, 'LK_OBJECT_INVALID']
      }
      const objects = new Map(model.objects)
      objects.delete(key)
      objects.set(key, { ...old, object, id: object['id'] as string | number })
      return [{ ...model, objects }, JSON.stringify(object['id'])]
    }
    case 'delete': {
      const objects = new Map(model.objects)
      const isThere = objects.delete(keyOf(operation.collection, operation.id))
      return [{ ...model, objects }, String(isThere)]
    }
    case 'define': {
      const definition = parseSchemaDefinition(operation.definition)
      const schema = compileSchema(definition)
      for (const { schema: name, object } of model.objects.values()) {
        if (name !== definition.name) continue
        if (schema.check(object, () => {}) === undefined) return [model, 'LK_SCHEMA_VIOLATED']
      }
      const schemas = new Map(model.schemas).set(definition.name, definition)
      return [{ ...model, schemas }, definition.name]
    }
    case 'drop': {
      if (!model.schemas.has(operation.schema)) return [model, 'false']
      for (const { schema } of model.objects.values()) {
        if (schema === operation.schema) return [model, 'LK_SCHEMA_IN_USE']
      }
      const schemas = new Map(model.schemas)
      schemas.delete(operation.schema)
      return [{ ...model, schemas }, 'true']
    }
    case 'deleteCollection': {
      const { collection } = operation
      if (!model.collections.has(collection)) return [model, 'undefined']
      const left = [...model.objects].filter(([, object]) => object.collection !== collection)
      const collections = new Set(model.collections)
      collections.delete(collection)
      const deleted = model.objects.size - left.length
      return [{ ...model, collections, objects: new Map(left) }, String(deleted)]
    }
  }
}

export async function carriedOut(objects: ObjectStore, operation: Operation): Promise<Outcome> {
  try {
    return await resultOf(objects, operation)
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.kind === 'storage') throw error
    return error.code
  }
}

/** Of a schema, in the order in which they were stored. */
export function matching(model: Model, schema: string, filter: JsonObject): ModelObject[] {
  const condition = parseFilter(filter, () => undefined)
  return [...model.objects.values()].filter(
    (one) => one.schema === schema && matches(condition, fieldsOf(one)),
  )
}

/** As it is stored, but for the times. */
export function fieldsOf({ object, schema, collection, id, source }: ModelObject): JsonObject {
  return {
    ...object,
    ...{ _id: id, _schema: schema, _collection: collection, _user: 'alice' },
    _metadata: { source, collection },
  }
}

function imported(model: Model, operation: Operation & { type: 'import' }): [Model, Outcome] {
  const { schema, collection, values, onDuplicate, source } = operation
  if (!model.schemas.has(schema)) return [model, 'LK_SCHEMA_NOT_FOUND']
  const stored: JsonObject[] = []
  for (const value of values) {
    const object = checked(model, schema, value)
    if (object === undefined) return [model, 'LK_OBJECT_INVALID']
    stored.push(object)
  }
  const ids = stored.map((object) => object['id'] as string | number)
  if (new Set(ids.map(String)).size < ids.length) return [model, 'LK_OBJECT_DUPLICATE']
  const objects = new Map(model.objects)
  let [replaced, skipped] = [0, 0]
  for (const [n, id] of ids.entries()) {
    const key = keyOf(collection, id)
    if (objects.has(key)) {
      if (onDuplicate === 'reject') return [model, 'LK_OBJECT_DUPLICATE']
      if (onDuplicate === 'skip') {
        skipped++
        continue
      }
      objects.delete(key)
      replaced++
    }
    objects.set(key, { schema, collection, id, object: stored[n] as JsonObject, source })
  }
  const collections = new Set(model.collections).add(collection)
  return [{ ...model, objects, collections }, `${ids.length - skipped} ${replaced} ${skipped}`]
}

function checked(model: Model, schema: string, value: unknown): JsonObject | undefined {
  const definition = model.schemas.get(schema)
  return definition && compiled(definition).check(value, () => {})
}

const validators = new WeakMap<SchemaDefinition, ReturnType<typeof compileSchema>>()

function compiled(definition: SchemaDefinition) {
  const schema = validators.get(definition) ?? compileSchema(definition)
  validators.set(definition, schema)
  return schema
}

async function resultOf(objects: ObjectStore, operation: Operation): Promise<Outcome> {
  switch (operation.type) {
    case 'import': {
      const { schema, collection, values, source, onDuplicate } = operation
      const metadata = { id: 'batch', user: 'alice', collection, metadata: { source } }
      const batch = { metadata, schema_name: schema, values }
      const { imported, replaced, skipped } = await objects.import(batch, { onDuplicate })
      return `${imported} ${replaced} ${skipped}`
    }
    case 'replace':
    case 'patch': {
      const { type, collection, id, object } = operation
      const stored = await objects[type](collection, id, object)
      return stored === undefined ? 'undefined' : JSON.stringify(stored._id)
    }
    case 'delete':
      return String(await objects.delete(operation.collection, operation.id))
    case 'define':
      return (await objects.defineSchema(operation.definition)).name
    case 'drop':
      return String(await objects.dropSchema(operation.schema))
    case 'deleteCollection':
      return String(await objects.deleteCollection(operation.collection))
  }
}
