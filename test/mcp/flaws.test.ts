import * as sdk from '@modelcontextprotocol/server'
import t from 'tap'
import { mostValues, overfull } from '../../src/mcp/flaws.js'

const many = (count: number) => Array.from({ length: count }, () => 1)
const asking = (params: object) => ({ jsonrpc: '2.0', id: 'a', method: 'initialize', params })

t.test('a message of the most values passes, one of another more is told by its id', (t) => {
  // The four, clientInfo, icons, and what is in them.
  const icons = (count: number) => asking({ clientInfo: { icons: many(count) } })
  t.equal(overfull(sdk, icons(mostValues - 6)), undefined)
  t.match(overfull(sdk, icons(mostValues - 5)), { id: 'a', error: { code: -32602 } })
  const named = Object.fromEntries(many(mostValues).map((value, n) => [`a${n}`, value]))
  t.match(overfull(sdk, asking({ _meta: named })), { id: 'a' })
  t.match(overfull(sdk, { ...named, jsonrpc: '2.0' }), { id: null })
  t.match(overfull(sdk, { jsonrpc: '2.0', method: 'a', params: many(mostValues) }), { id: null })
  t.end()
})

t.test('of what is inside the arguments nothing counts, of them themselves each', (t) => {
  const given = { filters: many(mostValues), more: { and: [many(mostValues)] } }
  t.equal(overfull(sdk, asking({ name: 'query_objects', arguments: given })), undefined)
  // The four, and arguments.
  t.equal(overfull(sdk, asking({ arguments: many(mostValues - 5) })), undefined)
  t.match(overfull(sdk, asking({ arguments: many(mostValues - 4) })), { id: 'a' })
  t.match(overfull(sdk, asking({ _meta: { arguments: many(mostValues) } })), { id: 'a' })
  t.end()
})

t.test('what is nested deeper than any stack is counted', (t) => {
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown
  t.match(overfull(sdk, asking({ clientInfo: deep })), { id: 'a' })
  t.equal(overfull(sdk, asking({ arguments: { filters: deep } })), undefined)
  for (const value of [undefined, null, 7, 'a']) t.equal(overfull(sdk, value), undefined)
  t.end()
})
