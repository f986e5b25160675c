// Objects, their schemas and collections.

import { objectExamples as examples } from '../examples/objects.js'
import { json, noContent, ok } from '../operation.js'
import type { Operation } from '../operation.js'
import { anyObject, ref } from '../schema.js'
import { ofJson } from './errors.js'

const ofQueries = [
  ...ofJson,
  'LK_FLOW_NOT_FOUND',
  'LK_SCHEMA_NOT_FOUND',
  'LK_QUERY',
  'LK_QUERY_BUDGET',
  'LK_CURSOR',
] as const
const ofChanges = [
  ...ofJson,
  'LK_OBJECT_NOT_FOUND',
  'LK_OBJECT_INVALID',
  'LK_OBJECT_REQUEST',
  'LK_OBJECT_ACCESS',
  'LK_OBJECT_TOO_LARGE',
] as const

export const objectOperations = {
  importObjects: {
    tag: 'objects',
    summary: 'Import a batch of objects',
    description: 'All of it or, after any error, nothing.',
    body: { content: json(ref('ObjectImport')) },
    answers: { 200: ok('What was stored.', ref('ObjectImportResult')) },
    errors: [
      ...ofJson,
      'LK_FLOW_NOT_FOUND',
      'LK_SCHEMA_NOT_FOUND',
      'LK_COLLECTION_NOT_FOUND',
      'LK_OBJECT_REQUEST',
      'LK_OBJECT_INVALID',
      'LK_OBJECT_DUPLICATE',
      'LK_OBJECT_ACCESS',
      'LK_OBJECT_TOO_LARGE',
    ],
    example: examples.importObjects,
  },
  queryObjects: {
    tag: 'objects',
    summary: 'Query objects',
    body: { content: json(ref('ObjectQuery')) },
    answers: { 200: ok('A page of them, and how many there are.', ref('ObjectPage')) },
    errors: ofQueries,
    example: examples.queryObjects,
  },
  explainQuery: {
    tag: 'objects',
    summary: 'Run a query, and tell how',
    description: 'For tokens for any user and every collection.',
    body: { content: json(ref('ObjectQuery')) },
    answers: { 200: ok('The plan, and what it took.', ref('QueryPlan')) },
    errors: ofQueries,
    example: examples.explainQuery,
  },
  showObject: {
    tag: 'objects',
    summary: 'An object',
    answers: { 200: ok('The object.', ref('StoredObject')) },
    errors: ['LK_OBJECT_NOT_FOUND', 'LK_OBJECT_REQUEST'],
    example: examples.showObject,
  },
  replaceObject: {
    tag: 'objects',
    summary: 'Put a whole object in the place of one',
    body: { content: json(anyObject) },
    answers: { 200: ok('What is stored then.', ref('StoredObject')) },
    errors: ofChanges,
    example: examples.replaceObject,
  },
  patchObject: {
    tag: 'objects',
    summary: 'Change an object by a JSON Merge Patch',
    body: {
      content: { ...json(anyObject), 'application/merge-patch+json': { schema: anyObject } },
    },
    answers: { 200: ok('What is stored then.', ref('StoredObject')) },
    errors: ofChanges,
    example: examples.patchObject,
  },
  deleteObject: {
    tag: 'objects',
    summary: 'Delete an object',
    answers: noContent,
    errors: ['LK_OBJECT_NOT_FOUND', 'LK_OBJECT_REQUEST', 'LK_OBJECT_ACCESS'],
    example: examples.deleteObject,
  },
  listSchemas: {
    tag: 'objects',
    summary: 'List schemas',
    description: 'In the order of their names.',
    answers: { 200: ok('A page of them, and how many there are.', ref('SchemaPage')) },
    errors: ['LK_CURSOR'],
    example: examples.listSchemas,
  },
  showSchema: {
    tag: 'objects',
    summary: 'A schema',
    answers: { 200: ok('Its plain form.', ref('SchemaDefinition')) },
    errors: ['LK_SCHEMA_NOT_FOUND'],
    example: examples.showSchema,
  },
  defineSchema: {
    tag: 'objects',
    summary: 'Define or change a schema',
    description: 'For tokens for any user and every collection.',
    body: { content: json(ref('NewSchema')) },
    answers: {
      200: ok('It was changed; its plain form.', ref('SchemaDefinition')),
      201: ok('It is new; its plain form.', ref('SchemaDefinition')),
    },
    errors: [...ofJson, 'LK_SCHEMA_INVALID', 'LK_SCHEMA_VIOLATED'],
    example: examples.defineSchema,
  },
  dropSchema: {
    tag: 'objects',
    summary: 'Drop a schema',
    description: 'For tokens for any user and every collection.',
    answers: noContent,
    errors: ['LK_SCHEMA_NOT_FOUND', 'LK_SCHEMA_IN_USE'],
    example: examples.dropSchema,
  },
  listCollections: {
    tag: 'objects',
    summary: 'List collections',
    description: 'Those that the token may touch, in the order of their names.',
    answers: { 200: ok('A page of them, and how many there are.', ref('CollectionPage')) },
    errors: ['LK_CURSOR'],
    example: examples.listCollections,
  },
  createCollection: {
    tag: 'objects',
    summary: 'Make a collection',
    answers: {
      200: ok('It was there.', ref('CollectionName')),
      201: ok('It is new.', ref('CollectionName')),
    },
    errors: ['LK_OBJECT_REQUEST'],
    example: examples.createCollection,
  },
  deleteCollection: {
    tag: 'objects',
    summary: 'Delete a collection and every object in it',
    description: 'For tokens for any user.',
    answers: { 200: ok('How many objects it had.', ref('Deleted')) },
    errors: ['LK_COLLECTION_NOT_FOUND', 'LK_OBJECT_REQUEST'],
    example: examples.deleteCollection,
  },
} as const satisfies Readonly<Record<string, Operation>>
