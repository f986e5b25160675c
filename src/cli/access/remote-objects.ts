// The objects of a running server.

import type {
  ObjectImportResult,
  FoundFields,
  ObjectPage,
  ObjectQuery,
  QueryPlan,
  SchemaDefinition,
} from '../../objects/types.js'
import type { ObjectAccess, ObjectBatch, SeenCollection } from './object-access.js'
import { ServerClient } from './server-client.js'

/** What a page of find() asks for; a server may give less. */
const pageLimit = 1000

const importLoss = {
  sending: 'none of the objects on their way was stored',
  sent: 'whether the objects on their way were stored is not known',
}
const readingLoss = { sending: 'nothing was read', sent: 'nothing was read' }
const definingLoss = {
  sending: 'the schema is as it was',
  sent: 'whether the schema was defined is not known; defining it again is safe',
}

export function openRemoteObjects(url: URL, token: string | undefined, flow: string): ObjectAccess {
  const server = new ServerClient(url, token)
  const flowPath = `flow/${encodeURIComponent(flow)}/objects`

  const query = async (query: ObjectQuery) =>
    (await server.sendJson(
      'POST',
      `${flowPath}/query`,
      {},
      JSON.stringify(query),
      readingLoss,
    )) as ObjectPage<FoundFields>

  return {
    async define(name, definition) {
      const path = `schemas/${encodeURIComponent(name)}`
      const json = JSON.stringify(definition)
      return (await server.sendJson('PUT', path, {}, json, definingLoss)) as SchemaDefinition
    },

    schemas: () => server.all<SchemaDefinition>('schemas'),

    async schema(name) {
      const path = `schemas/${encodeURIComponent(name)}`
      return (await server.askJson('GET', path)) as SchemaDefinition
    },

    async import(batch, { onDuplicate }) {
      const parameters = { on_duplicate: onDuplicate }
      const path = `${flowPath}/import`
      const json = requestText(batch)
      return (await server.sendJson(
        'POST',
        path,
        parameters,
        json,
        importLoss,
      )) as ObjectImportResult
    },

    query,

    async *find({ limit = Infinity, offset, after, ...rest }) {
      let left = limit
      let position: Pick<ObjectQuery, 'offset' | 'after'> = {
        ...(offset !== undefined && { offset }),
        ...(after !== undefined && { after }),
      }
      while (left > 0) {
        const page = await query({ ...rest, ...position, limit: Math.min(left, pageLimit) })
        yield* page.objects
        left -= page.objects.length
        if (page.next === undefined) return
        position = { after: page.next }
      }
    },

    async explain(query) {
      const json = JSON.stringify(query)
      const path = `${flowPath}/explain`
      return (await server.sendJson('POST', path, {}, json, readingLoss)) as QueryPlan
    },

    collections: () => server.all<SeenCollection>('collections'),

    async deleteCollection(name) {
      const path = `collections/${encodeURIComponent(name)}`
      const { deleted } = (await server.askJson('DELETE', path)) as { readonly deleted: number }
      return deleted
    },

    async close() {},
  }
}

/** The objects go as they were read: a number that a double cannot hold is for the store to refuse. */
function requestText({ metadata, schema_name, objects }: ObjectBatch): string {
  const values = objects.map(({ text }) => text).join(',')
  const head = JSON.stringify({ metadata, schema_name })
  return `${head.slice(0, -1)},"values":[${values}]}`
}
