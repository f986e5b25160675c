// The service itself, its errors, and what clients of the reference system ask.

import { catalogue } from '../../../errors.js'
import { storeNames } from '../../stores.js'
import { anyObject, count, described, flag, list, number, object, text, words } from '../schema.js'

const kinds = [...new Set(Object.values(catalogue).map(({ kind }) => kind))]
const nullable = { type: ['string', 'null'] }
const named = { 'user?': nullable, 'workspace?': nullable, 'collection?': nullable }
const limit = { 'limit?': { type: ['integer', 'null'], minimum: 0 } }
const theirTerm = described(
  'A term, `{ v, e }` or with its type in `t`: `i` an entity, `b` a blank node, `l` a literal.',
  anyObject,
)
const theirs = (members: Readonly<Record<string, object>>) => ({
  ...object(members as never),
  additionalProperties: true,
})

export const serviceSchemas = {
  Problem: {
    ...object({
      type: text,
      title: text,
      status: count,
      detail: text,
      code: described('Act on this one.', words(...Object.keys(catalogue))),
      kind: words(...kinds),
      requestId: text,
      errors: list({
        ...object({ 'path?': text, message: text }),
        additionalProperties: true,
      }),
      'errorsOmitted?': count,
      error: object({ type: text, message: text }),
    }),
    additionalProperties: true,
    description: 'RFC 9457. Details of the error, such as `byteOffset`, are further members.',
  },
  Health: object({ status: { const: 'ok' } }),
  Readiness: object({
    status: words('ready', 'unready'),
    'where?': described(
      'What refuses work: partitions of the storage, and the index while merges are behind.',
      list(words('cores', 'slices', 'objects', 'flows', 'index')),
    ),
  }),
  Principal: object({
    user: text,
    'defaultUser?': described('Whom a token for any user should name.', text),
    'collections?': list(text),
    'shared?': list(text),
    'access?': { const: 'read' },
    stores: described('Those that the server has.', list(words(...storeNames))),
    sparql: described('Whether the server answers SPARQL: its engine is optional.', flag),
  }),
  TriplesRequest: theirs({
    's?': theirTerm,
    'p?': theirTerm,
    'o?': theirTerm,
    'g?': nullable,
    ...limit,
    ...named,
  }),
  TriplesResponse: object({
    response: list(anyObject),
    'truncated?': described('True where there is more.', { const: true }),
  }),
  EmbeddingsRequest: theirs({
    'vectors?': list(list(number)),
    'vector?': list(number),
    ...limit,
    ...named,
  }),
  EmbeddingsResponse: object({ entities: list(anyObject) }),
  KnowledgeRequest: theirs({
    operation: words('list-kg-cores', 'delete-kg-core', 'load-kg-core', 'unload-kg-core'),
    'id?': nullable,
    'flow?': nullable,
    ...named,
  }),
  KnowledgeResponse: object({ 'ids?': list(text) }),
  Empty: object({}),
} as const
