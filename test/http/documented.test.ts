// docs/http.md says which endpoints, parameters and limits there are. This compares, both ways.

import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { documentOf } from '../../src/http/openapi/document.js'
import { handlerLimits, routesOf } from '../../src/http/options.js'
import { status } from '../../src/http/problem.js'
import type { Route } from '../../src/http/routes.js'
import type { ErrorCode } from '../../src/errors.js'
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

/** Of a handler that has everything. */
async function allRoutes(t: Test): Promise<readonly Route[]> {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { knowledge, objects, flows, backup, health } = keep
  const stores = { knowledge, objects, flows, backup, health, sparql: createSparql() }
  const pages = { metrics: true, inspector: true, mcp: true }
  return routesOf({ ...stores, ...pages, authenticate: 'none' }, '/api/v1')
}

t.test('the table of endpoints has every route and its parameters', async (t) => {
  const there = (await allRoutes(t)).map(({ method, path, query = {} }) => {
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

t.test('the table of statuses has every code that an endpoint may answer with', async (t) => {
  const document = JSON.stringify(documentOf(await allRoutes(t), '/api/v1'))
  const answered = [...document.matchAll(/`(LK_\w+)`: /g)].map(([, code]) => code as ErrorCode)
  // A method that a path does not have is no operation.
  const there = [...new Set<ErrorCode>([...answered, 'LK_HTTP_METHOD'])]
    .filter((code) => status[code] !== 500)
    .map((code) => `${status[code]} ${code}`)
  const told = tableOf('status').flatMap(([, number, codes]) =>
    codesIn(codes)
      .filter((code) => code.startsWith('LK_') && number !== '500')
      .map((code) => `${number} ${code}`),
  )
  t.strictSame(told.sort(), there.sort())
})
