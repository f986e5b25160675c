// The schemas of a document's chunks and entities, and the ids of these objects.

import { Problems } from '../../door/problems.js'
import { hash } from 'node:crypto'
import { LorekeepError } from '../../errors.js'
import type { FieldDefinition, ObjectStore, SchemaDefinition } from '../../objects/types.js'
import type { DocumentRef } from '../types.js'

export type ObjectSchema = Pick<SchemaDefinition, 'name' | 'description' | 'fields' | 'indexes'>

const string: FieldDefinition = { type: 'string', required: true }
const count: FieldDefinition = { type: 'integer', required: true }

export const chunkSchema: ObjectSchema = {
  name: 'lorekeep_chunk',
  description: 'Pieces of documents, made by flows',
  fields: {
    id: string,
    uri: string,
    document: string,
    index: count,
    start: count,
    end: count,
    text: { type: 'text', required: true },
    entities: { type: 'array', required: true, items: { type: 'string' } },
  },
  indexes: ['document', 'uri', 'entities'],
}

export const entitySchema: ObjectSchema = {
  name: 'lorekeep_entity',
  description: 'What documents speak of, made by flows',
  fields: {
    id: string,
    uri: string,
    name: string,
    definition: { type: 'text' },
    document: string,
    chunks: { type: 'array', required: true, items: { type: 'integer' } },
  },
  indexes: ['document', 'uri', 'name'],
}

/**
 * Defines the schema where there is none of its name. One that is there stays as it is, also with
 * fewer indexes or more fields.
 * @throws LorekeepError `LK_STEP_INPUT` where that one does not admit our objects
 */
export async function ensureSchema(objects: ObjectStore, wanted: ObjectSchema): Promise<void> {
  const there = await objects.schema(wanted.name)
  if (there === undefined) {
    await objects.defineSchema(wanted)
    return
  }
  const paths = conflicts(there, wanted)
  if (paths.length === 0) return
  const problems = new Problems()
  for (const path of paths) problems.fail(path, 'is not as the objects of the step need it')
  throw new LorekeepError(
    'LK_STEP_INPUT',
    `'index' keeps its objects under the schema '${wanted.name}', which is defined otherwise ` +
      `(${problems.sentence()}): give yours another name and drop it, or leave the step out of the flow`,
    { details: { step: 'index', schema: wanted.name, ...problems.details } },
  )
}

/** True for a schema of ours: what lies under another of that name is nobody's but the user's. */
export async function isThere(objects: ObjectStore, wanted: ObjectSchema): Promise<boolean> {
  const there = await objects.schema(wanted.name)
  return there !== undefined && conflicts(there, wanted).length === 0
}

/** Where a schema contradicts the wanted one. */
function conflicts(there: SchemaDefinition, { fields }: ObjectSchema): readonly string[] {
  const paths = new Set<string>()
  if (there.id_field !== 'id') paths.add('id_field')
  for (const [name, { type, items }] of Object.entries(fields)) {
    const field = Object.hasOwn(there.fields, name) ? there.fields[name] : undefined
    if (field?.type !== type || field.items?.type !== items?.type) {
      paths.add(`fields.${name}`)
    }
  }
  for (const [name, { required }] of Object.entries(there.fields)) {
    if (required === true && fields[name]?.required !== true) {
      paths.add(`fields.${name}`)
    }
  }
  return [...paths]
}

/**
 * The ids of a document's objects. They are the same ones at every run, and no other user's, who
 * may have a document of that id in the same collection.
 */
export class ObjectIds {
  readonly #document: string

  constructor({ user, document }: Required<DocumentRef>) {
    this.#document = digest(JSON.stringify([user, document]), 22)
  }

  chunk(index: number): string {
    return `${this.#document}/c${index}`
  }

  entity(uri: string): string {
    // Among those of one document.
    return `${this.#document}/e${digest(uri, 16)}`
  }

  /** False also for objects that somebody stored under these schemas by other means. */
  isOurs(id: unknown): id is string {
    return typeof id === 'string' && id.startsWith(`${this.#document}/`)
  }
}

/** Of 6 bits a character: 132 and 96. Nobody finds two texts of one digest. */
function digest(text: string, length: number): string {
  return hash('sha256', text, 'base64url').slice(0, length)
}
