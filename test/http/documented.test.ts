// docs/http.md says which endpoints, parameters and limits there are. This compares, both ways.

import { readFileSync } from 'node:fs'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { handlerLimits, routesOf } from '../../src/http/options.js'
import { createLorekeep } from '../../src/index.js'
import { createSparql } from '../../src/sparql/index.js'

/** Cells of each row of a table, by the words that its head begins with. */
function tableOf(head: string): string[][] {
  const lines = readFileSync('docs/http.md', 'utf8').split('\n')
  const from = lines.findIndex((line) => line.replace(/ +/g, ' ').startsWith(`| ${head} |`)) + 2
  const rows = lines.slice(from, lines.indexOf('', from))
  return rows.map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()))
}

function codesIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string)
}

t.test('the table of endpoints has every route and its parameters', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { knowledge, objects, flows, backup, health } = keep
  const stores = {
    knowledge,
    objects,
    flows,
    backup,
    health,
    metrics: true,
    inspector: true,
    mcp: true,
    sparql: createSparql(),
  }
  const routes = routesOf({ ...stores, authenticate: 'none' }, '/api/v1')
  const there = routes.map(({ method, path, query = {} }) => {
    return `${method} ${path}: ${Object.keys(query).sort().join(', ')}`
  })
  let [method, path] = ['', '']
  const told = tableOf('method and path').flatMap(([, endpoints, parameters]) =>
    codesIn(endpoints).map((endpoint) => {
      // `PUT …` is of the path before, `…/stop` stands in the place of its last part.
      const [, named, place = ''] = /^(?:([A-Z]+) )?(.*)$/.exec(endpoint) ?? []
      method = named ?? method
      if (place.startsWith('…/')) path = path.replace(/[^/]*$/, place.slice(2))
      else if (place !== '…') path = place
      return `${method} ${path}: ${codesIn(parameters).sort().join(', ')}`
    }),
  )
  t.strictSame(told.sort(), there.sort())
})

t.test('the table of options has every limit and its default', async (t) => {
  const told = tableOf('option')
    .filter(([, , otherwise = '']) => /^\d+$/.test(otherwise))
    .map(([, name, otherwise]) => `${codesIn(name)[0]}: ${otherwise}`)
  const there = Object.entries(handlerLimits).map(
    ([name, { otherwise }]) => `${name}: ${otherwise}`,
  )
  t.strictSame(told.sort(), there.sort())
})
