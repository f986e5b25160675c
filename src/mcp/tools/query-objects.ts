import type { ObjectQuery } from '../../objects/types.js'
import { after, passedOver, placeOfNext } from '../asking.js'
import { listing } from '../bounds.js'
import { count, needed, object, text, texts } from '../fields.js'
import { jsonLine } from '../passages.js'
import { aCount, ofLists, tool } from '../tool.js'

export const queryObjects = tool({
  name: 'query_objects',
  description:
    'Objects of a schema (list shows schemas and fields), by filters as MongoDB writes them: {"price":{"$lt":10}}. total is exact.',
  fields: {
    schema: needed(text(256)),
    filters: object(),
    sort: object('{"price":"desc"}'),
    fields: texts(50, 256, 'default: all'),
    limit: count(0, 100, 20),
    after,
  },
  output: { objects: { type: 'array', items: { type: 'object' } }, total: aCount, ...ofLists },
  always: ['objects', 'total', 'truncated'],
  async run({ schema, filters, sort, fields, limit = 20, after }, { stores }) {
    const offset = passedOver(after)
    const query = {
      schema_name: schema,
      limit,
      offset,
      ...(filters !== undefined && { filters }),
      ...(sort !== undefined && { sort }),
      ...(fields !== undefined && { fields }),
    }
    // What is in filters and sort is for the store to check.
    const { objects, total } = await stores.query(query as ObjectQuery)
    return listing({
      name: 'objects',
      items: objects,
      textOf: jsonLine,
      beside: { total },
      heading: `${total} in all:`,
      nothing: `${total} in all, none shown.`,
      next: (shown) => (limit > 0 ? placeOfNext(offset + shown, total) : undefined),
    })
  },
})
