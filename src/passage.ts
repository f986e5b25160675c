// Texts of passages, from where the flows' step `index` keeps them.

import { hasCode } from './errors.js'
import type { Passage } from './graph/types.js'
import type { ObjectStore } from './objects/types.js'

/** The text of a user's passage; undefined where no flow has kept it. */
export async function passageText(
  objects: ObjectStore,
  { user, chunk, collection }: Passage,
): Promise<string | undefined> {
  try {
    const page = await objects.query(
      {
        schema_name: 'lorekeep_chunk',
        filters: { uri: chunk, _user: user },
        fields: ['text'],
        limit: 1,
      },
      collection === undefined ? {} : { collections: [collection] },
    )
    const text = page.objects[0]?.['text']
    return typeof text === 'string' ? text : undefined
  } catch (error) {
    // No flow has ever kept one.
    if (hasCode(error, 'LK_SCHEMA_NOT_FOUND')) return undefined
    throw error
  }
}
