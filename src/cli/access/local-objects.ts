import { LorekeepError } from '../../errors.js'
import type { JsonObject } from '../../types.js'
import { openLocalStore } from './local-store.js'
import type { ObjectAccess } from './object-access.js'

export async function openLocalObjects(data: string, create: boolean): Promise<ObjectAccess> {
  const { objects, close } = await openLocalStore(data, create)
  return {
    define: (_name, definition) => objects.defineSchema(definition),
    schemas: () => objects.schemas(),
    async schema(name) {
      const found = await objects.schema(name)
      if (found === undefined) throw new LorekeepError('LK_SCHEMA_NOT_FOUND', `'${name}'`)
      return found
    },
    import: ({ objects: values, ...batch }, options) =>
      // The store checks what it is given; whether these are objects is for it to say.
      objects.import({ ...batch, values: values.map(({ value }) => value as JsonObject) }, options),
    query: (query) => objects.query(query),
    find: (query) => objects.find(query),
    explain: (query) => objects.explain(query),
    collections: () => objects.collections(),
    async deleteCollection(name) {
      const deleted = await objects.deleteCollection(name)
      if (deleted === undefined) throw new LorekeepError('LK_COLLECTION_NOT_FOUND', `'${name}'`)
      return deleted
    },
    close,
  }
}
