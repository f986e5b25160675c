// Schemas. Everyone reads them; they hold for all collections, so only who may touch all changes them.

import { LorekeepError } from '../../errors.js'
import type { ObjectStore } from '../../objects/types.js'
import { checkUnlimited } from '../access.js'
import { versionOf } from '../../conditions.js'
import { answerVersioned, changeConditions, entityTag } from '../conditions.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { after, filtersIn, limit, pageIn, prefix } from '../parameters.js'
import { answer, answerJson } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import { requestError } from '../target.js'
import { quoted } from '../../door/wording.js'

interface SchemaRoutesOptions extends JsonLimits {
  readonly prefix: string
  readonly objects: ObjectStore
  readonly requireConditions: boolean
}

export function schemaRoutes(options: SchemaRoutesOptions): readonly Route[] {
  const { prefix: base, objects, requireConditions } = options
  const versions = true
  const single = `${base}/schemas/{name}`

  return [
    {
      access: 'read',
      method: 'GET',
      path: `${base}/schemas`,
      operation: 'listSchemas',
      query: { prefix, limit, after },
      run: listSchemas,
    },
    {
      access: 'read',
      method: 'GET',
      path: single,
      operation: 'showSchema',
      versions,
      run: showSchema,
    },
    {
      access: 'change',
      method: 'PUT',
      path: single,
      operation: 'defineSchema',
      versions,
      run: defineSchema,
    },
    {
      access: 'change',
      method: 'DELETE',
      path: single,
      operation: 'dropSchema',
      media: [],
      versions,
      run: dropSchema,
    },
  ]

  async function listSchemas({ call, query }: Exchange): Promise<void> {
    const asked = { ...filtersIn(query, { prefix }), ...pageIn(query) }
    await answerJson(call, 200, await objects.schemaPage(asked))
  }

  async function showSchema({ call, parameters }: Exchange): Promise<void> {
    const name = parameters.get('name') ?? ''
    const schema = (await objects.schema(name)) ?? notFound(name)
    await answerVersioned(call, schema, { version: versionOf(schema) })
  }

  async function defineSchema(exchange: Exchange): Promise<void> {
    const { call, principal, parameters } = exchange
    checkUnlimited(principal)
    const name = parameters.get('name') ?? ''
    const conditions = changeConditions(call, requireConditions)
    const body = await readJson(exchange, options)
    if (body['name'] !== undefined && body['name'] !== name) {
      throw requestError('name', `must be ${quoted(name)}, as the path says, or be left out`)
    }
    const isNew = (await objects.schema(name)) === undefined
    // Spread defines members, it does not set them: a member `__proto__` stays one.
    const schema = await objects.defineSchema({ ...body, name }, conditions)
    const ETag = entityTag({ version: versionOf(schema) })
    await answerJson(call, isNew ? 201 : 200, schema, { ETag })
  }

  async function dropSchema({ call, principal, parameters }: Exchange): Promise<void> {
    checkUnlimited(principal)
    const name = parameters.get('name') ?? ''
    const conditions = changeConditions(call, requireConditions)
    if (!(await objects.dropSchema(name, conditions))) notFound(name)
    await answer(call, 204)
  }
}

function notFound(name: string): never {
  throw new LorekeepError('LK_SCHEMA_NOT_FOUND', `'${name}'`)
}
