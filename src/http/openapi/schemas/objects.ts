// Objects, their schemas and collections.

import {
  anyObject,
  count,
  described,
  flag,
  list,
  mapOf,
  number,
  object,
  page,
  ref,
  text,
  time,
  words,
} from '../schema.js'
import type { Schema } from '../schema.js'

const id = { anyOf: [text, { type: 'integer' }] }
const fields = mapOf(ref('FieldDefinition'))
const definition = {
  'description?': text,
  fields,
  'index_undeclared?': { const: true },
}
const system = {
  _schema: text,
  _collection: text,
  _user: text,
  _created_at: time,
  _updated_at: time,
  _version: described('Another one with every change.', text),
  _metadata: anyObject,
}
const optional = (members: Readonly<Record<string, Schema>>) =>
  Object.fromEntries(Object.entries(members).map(([name, schema]) => [`${name}?`, schema]))

export const objectSchemas = {
  FieldDefinition: object({
    type: words(
      'string',
      'text',
      'number',
      'integer',
      'boolean',
      'enum',
      'array',
      'object',
      'date',
      'timestamp',
      'uri',
      'email',
      'uuid',
      'any',
    ),
    'description?': text,
    'required?': flag,
    'nullable?': flag,
    'default?': {},
    'values?': list({ type: ['string', 'number', 'boolean', 'null'] }),
    'items?': ref('FieldDefinition'),
    'properties?': fields,
    'min?': number,
    'max?': number,
    'min_length?': count,
    'max_length?': count,
  }),
  IndexDefinition: {
    anyOf: [
      described('A path.', text),
      described(
        'The words of several paths.',
        object({ text: list(text), 'weights?': mapOf(count), 'language?': text }),
      ),
    ],
  },
  SchemaDefinition: object({
    name: text,
    ...definition,
    indexes: list(ref('IndexDefinition')),
    strict: flag,
    id_field: text,
    generate_ids: flag,
  }),
  NewSchema: {
    ...object({
      'name?': text,
      ...definition,
      'index_undeclared?': flag,
      'indexes?': list(ref('IndexDefinition')),
      'strict?': flag,
      'id_field?': text,
      'generate_ids?': flag,
    }),
    additionalProperties: true,
    description: 'A definition in any of the forms of docs/objects.md.',
  },
  SchemaPage: object({ schemas: list(ref('SchemaDefinition')), ...page, total: count }),
  ObjectImport: object({
    metadata: object({ id: text, user: text, collection: text, 'metadata?': anyObject }),
    schema_name: text,
    values: list(anyObject),
  }),
  ObjectImportResult: object({
    id: text,
    collection: text,
    schema_name: text,
    imported: count,
    replaced: count,
    skipped: count,
    ids: list(id),
  }),
  StoredObject: { ...object({ _id: id, ...system }), additionalProperties: true },
  FoundFields: {
    ...object({ _id: id, ...optional(system), '_score?': number }),
    additionalProperties: true,
  },
  ObjectQuery: object({
    schema_name: text,
    'filters?': described('By paths; see docs/objects.md.', anyObject),
    'limit?': count,
    'offset?': count,
    'sort?': mapOf({ anyOf: [words('asc', 'desc'), object({ $meta: { const: 'textScore' } })] }),
    'fields?': list(text),
    'after?': text,
    'reads?': words('fresh', 'recent'),
  }),
  ObjectPage: object({
    objects: list(ref('FoundFields')),
    total: count,
    offset: count,
    ...page,
  }),
  QueryPlan: object({
    plan: words('scan', 'index', 'intersection', 'union', 'text', 'none'),
    indexes: list(object({ path: text, ranges: list(text), keys: count })),
    filtered: flag,
    counted: flag,
    sort: words('index', 'memory', 'none'),
    keysRead: count,
    objectsRead: count,
    total: count,
    returned: count,
    milliseconds: number,
    notUsed: list(object({ path: text, reason: text })),
  }),
  CollectionPage: object({
    collections: list(
      object({
        name: text,
        created_at: time,
        version: text,
        'objects?': described('Told to tokens for any user alone.', count),
        'schemas?': mapOf(count),
      }),
    ),
    ...page,
    total: count,
  }),
  CollectionName: object({ name: text }),
  Deleted: object({ deleted: count }),
} as const
