// Collections: list, make, delete with everything in them.

import { LorekeepError } from '../../errors.js'
import type { ObjectStore } from '../../objects/types.js'
import { actsForAny, checkActsForAny, checkCollection, scopeOf } from '../access.js'
import { changeConditions } from '../conditions.js'
import { after, filtersIn, limit, pageIn, prefix } from '../parameters.js'
import { answerJson } from '../reply.js'
import type { Exchange, Route } from '../routes.js'

interface CollectionRoutesOptions {
  readonly prefix: string
  readonly objects: ObjectStore
}

export function collectionRoutes(options: CollectionRoutesOptions): readonly Route[] {
  const { prefix: base, objects } = options
  const single = `${base}/collections/{collection}`

  return [
    {
      access: 'read',
      method: 'GET',
      path: `${base}/collections`,
      operation: 'listCollections',
      query: { prefix, limit, after },
      run: listCollections,
    },
    {
      access: 'change',
      method: 'PUT',
      path: single,
      operation: 'createCollection',
      versions: true,
      run: createCollection,
    },
    {
      access: 'change',
      method: 'DELETE',
      path: single,
      operation: 'deleteCollection',
      versions: true,
      run: deleteCollection,
    },
  ]

  async function listCollections({ call, principal, query }: Exchange): Promise<void> {
    const asked = { ...filtersIn(query, { prefix }), ...pageIn(query) }
    const { collections, ...page } = await objects.collectionPage({
      ...asked,
      scope: scopeOf(principal),
    })
    // A name is everybody's who may touch it; what is counted is not.
    const shown = actsForAny(principal)
      ? collections
      : collections.map(({ name, created_at, version }) => ({ name, created_at, version }))
    await answerJson(call, 200, { collections: shown, ...page })
  }

  async function createCollection(exchange: Exchange): Promise<void> {
    const { call } = exchange
    const name = nameOf(exchange)
    const isNew = await objects.createCollection(name, changeConditions(call, false))
    await answerJson(call, isNew ? 201 : 200, { name })
  }

  async function deleteCollection(exchange: Exchange): Promise<void> {
    const { call, principal } = exchange
    // Its objects are of several users.
    checkActsForAny(principal)
    const name = nameOf(exchange)
    const deleted = await objects.deleteCollection(name, changeConditions(call, false))
    if (deleted === undefined) throw new LorekeepError('LK_COLLECTION_NOT_FOUND', `'${name}'`)
    await answerJson(call, 200, { deleted })
  }
}

function nameOf({ principal, parameters }: Exchange): string {
  const name = parameters.get('collection') ?? ''
  checkCollection(principal, name)
  return name
}
