// Objects: batches in, queries, and single objects by collection and id.

import type { ChangeConditions } from '../../conditions.js'
import { LorekeepError } from '../../errors.js'
import type { ObjectImport, ObjectQuery, ObjectStore, StoredObject } from '../../objects/types.js'
import type { JsonObject } from '../../types.js'
import { checkCollection, checkImport, checkUnlimited, scopeOf } from '../access.js'
import { answerVersioned, changeConditions, entityTag } from '../conditions.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { aWord, valueOf } from '../parameters.js'
import { answer, answerJson } from '../reply.js'
import type { Exchange, Route } from '../routes.js'

interface ObjectRoutesOptions extends JsonLimits {
  readonly prefix: string
  readonly objects: ObjectStore
  readonly hasFlow: (id: string) => Promise<boolean>
  readonly requireConditions: boolean
}

const onDuplicate = aWord(
  'What becomes of an object whose id the collection has.',
  'reject',
  'replace',
  'skip',
)

export function objectRoutes(options: ObjectRoutesOptions): readonly Route[] {
  const { prefix, objects, hasFlow, requireConditions } = options
  const versions = true
  const ofFlow = `${prefix}/flow/{flow}/objects`
  const single = `${prefix}/collections/{collection}/objects/{id}`

  return [
    {
      access: 'change',
      method: 'POST',
      path: `${ofFlow}/import`,
      operation: 'importObjects',
      query: { on_duplicate: onDuplicate },
      run: importObjects,
    },
    {
      access: 'read',
      method: 'POST',
      path: `${ofFlow}/query`,
      operation: 'queryObjects',
      run: queryObjects,
    },
    {
      access: 'read',
      method: 'POST',
      path: `${ofFlow}/explain`,
      operation: 'explainQuery',
      run: explainQuery,
    },
    {
      access: 'read',
      method: 'GET',
      path: single,
      operation: 'showObject',
      versions,
      run: showObject,
    },
    {
      access: 'change',
      method: 'PUT',
      path: single,
      operation: 'replaceObject',
      versions,
      run: replaceObject,
    },
    {
      access: 'change',
      method: 'PATCH',
      path: single,
      operation: 'patchObject',
      versions,
      run: patchObject,
    },
    {
      access: 'change',
      method: 'DELETE',
      path: single,
      operation: 'deleteObject',
      media: [],
      versions,
      run: deleteObject,
    },
  ]

  // Of these bodies only the JSON is looked at here: the store takes them apart, and says what is
  // wrong with them to callers in process just the same.

  async function importObjects(exchange: Exchange): Promise<void> {
    const { call, principal, query } = exchange
    await checkFlow(exchange)
    const body = await readJson(exchange, options)
    checkImport(principal, body)
    const result = await objects.import(body as unknown as ObjectImport, {
      onDuplicate: valueOf(query, 'on_duplicate', onDuplicate) ?? 'reject',
      scope: scopeOf(principal),
    })
    await answerJson(call, 200, result)
  }

  async function queryObjects(exchange: Exchange): Promise<void> {
    const { call, principal } = exchange
    await checkFlow(exchange)
    const query = (await readJson(exchange, options)) as unknown as ObjectQuery
    await answerJson(call, 200, await objects.query(query, scopeOf(principal)))
  }

  async function explainQuery(exchange: Exchange): Promise<void> {
    const { call, principal } = exchange
    await checkFlow(exchange)
    // An index is over everybody's objects, and a plan counts its keys: whoever may ask for the plan of
    // any filter learns which values others have.
    checkUnlimited(principal)
    const query = (await readJson(exchange, options)) as unknown as ObjectQuery
    await answerJson(call, 200, await objects.explain(query))
  }

  async function showObject(exchange: Exchange): Promise<void> {
    const { collection, id } = placeOf(exchange)
    const scope = scopeOf(exchange.principal)
    const found = (await objects.get(collection, id, { scope })) ?? notFound(collection, id)
    const validators = { version: found._version, updatedAt: found._updated_at }
    await answerVersioned(exchange.call, found, validators)
  }

  async function replaceObject(exchange: Exchange): Promise<void> {
    const scope = scopeOf(exchange.principal)
    await change(exchange, (collection, id, object, conditions) =>
      objects.replace(collection, id, object, { scope, ...conditions }),
    )
  }

  async function patchObject(exchange: Exchange): Promise<void> {
    const scope = scopeOf(exchange.principal)
    await change(exchange, (collection, id, changes, conditions) =>
      objects.patch(collection, id, changes, { scope, ...conditions }),
    )
  }

  async function deleteObject(exchange: Exchange): Promise<void> {
    const { collection, id } = placeOf(exchange)
    const scope = scopeOf(exchange.principal)
    const conditions = changeConditions(exchange.call, requireConditions)
    const isDeleted = await objects.delete(collection, id, { scope, ...conditions })
    if (!isDeleted) notFound(collection, id)
    await answer(exchange.call, 204)
  }

  async function change(
    exchange: Exchange,
    make: (
      collection: string,
      id: string,
      body: JsonObject,
      conditions: ChangeConditions | undefined,
    ) => Promise<StoredObject | undefined>,
  ): Promise<void> {
    const { call } = exchange
    const { collection, id } = placeOf(exchange)
    const conditions = changeConditions(call, requireConditions)
    const body = await readJson(exchange, options)
    const stored = (await make(collection, id, body, conditions)) ?? notFound(collection, id)
    await answerJson(call, 200, stored, { ETag: entityTag({ version: stored._version }) })
  }

  async function checkFlow({ parameters }: Exchange): Promise<void> {
    const flow = parameters.get('flow') ?? ''
    if (!(await hasFlow(flow))) throw new LorekeepError('LK_FLOW_NOT_FOUND', `'${flow}'`)
  }
}

/** An id that is a number is found by its text as well. */
function placeOf({ principal, parameters }: Exchange): { collection: string; id: string } {
  const collection = parameters.get('collection') ?? ''
  checkCollection(principal, collection)
  return { collection, id: parameters.get('id') ?? '' }
}

function notFound(collection: string, id: string): never {
  throw new LorekeepError('LK_OBJECT_NOT_FOUND', `collection '${collection}' has no '${id}'`)
}
