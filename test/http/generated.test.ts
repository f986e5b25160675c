// A client that a generator of the field makes of the document: it compiles strictly, and talks to the server.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import t from 'tap'
import { core, json, send, serve } from './fixtures/serving.js'

const run = promisify(execFile)

const program = `
import { readFile, writeFile } from 'node:fs/promises'
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

const [url = '', file = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: 'Bearer admin' } })

function got<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}

const ref = { id: 'urn:visit', user: 'alice' }
const imported = got(
  await client.POST('/api/v1/import-core', {
    params: { query: { ...ref, mode: 'replace' } },
    body: new Blob([await readFile(file)]),
    bodySerializer: (body) => body,
    headers: { 'Content-Type': 'application/octet-stream' },
  }),
)
const triples: number = imported.triples
const exported: Blob = got(
  await client.GET('/api/v1/export-core', { params: { query: ref }, parseAs: 'blob' }),
)
await writeFile('exported.core', new Uint8Array(await exported.arrayBuffer()))
const { cores } = got(await client.GET('/api/v1/cores', { params: { query: { user: 'alice' } } }))

got(
  await client.PUT('/api/v1/schemas/{name}', {
    params: { path: { name: 'boats' } },
    body: {
      fields: { id: { type: 'string', required: true }, seats: { type: 'integer' } },
      indexes: ['seats'],
    },
  }),
)
const flow = { path: { flow: 'default' } }
const batch = got(
  await client.POST('/api/v1/flow/{flow}/objects/import', {
    params: flow,
    body: {
      metadata: { id: 'b1', user: 'alice', collection: 'harbour' },
      schema_name: 'boats',
      values: [{ id: 'skiff', seats: 2 }, { id: 'punt', seats: 4 }],
    },
  }),
)
const page = got(
  await client.POST('/api/v1/flow/{flow}/objects/query', {
    params: flow,
    body: { schema_name: 'boats', filters: { seats: { $gt: 1 } }, sort: { seats: 'desc' }, limit: 1 },
  }),
)
const refused = await client.GET('/api/v1/cores/{id}', {
  params: { path: { id: 'urn:none' }, query: { user: 'alice' } },
})
const problem: components['schemas']['Problem'] | undefined = refused.error

console.log(
  JSON.stringify({
    triples,
    cores: cores.map(({ id }) => id),
    imported: batch.imported,
    page: [page.total, page.objects.map((object) => object['id'])],
    refused: [refused.response.status, problem?.code],
  }),
)
// What the document does not have does not compile.
// @ts-expect-error
void (() => client.GET('/api/v1/kores'))
// @ts-expect-error
void (() => client.GET('/api/v1/export-core', { params: { query: { user: 'alice' } } }))
`

t.test('types that openapi-typescript makes, with openapi-fetch', async (t) => {
  const { url } = await serve(t)
  const served = json(await send(`${url}/api/v1/openapi.json`)) as object
  const blob = ts.factory.createTypeReferenceNode('Blob')
  const types = await openapiTS(JSON.stringify(served), {
    transform: ({ format }) => (format === 'binary' ? blob : undefined),
  })
  const sent = core('urn:visit', 'alice')
  const folder = t.testdir({
    'api.d.ts': astToString(types),
    'program.ts': program,
    'sent.core': sent,
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
        ...{ module: 'nodenext', target: 'es2024', lib: ['es2024', 'dom'], types: ['node'] },
        skipLibCheck: false,
      },
      files: ['program.ts'],
    }),
  })
  const tsc = resolve('node_modules/typescript/bin/tsc')
  const compiled = run(process.execPath, [tsc], { cwd: folder })
  t.equal((await compiled.catch((error: { stdout: string }) => error)).stdout, '', 'it compiles')
  const args = [join(folder, 'program.js'), url, join(folder, 'sent.core')]
  const { stdout } = await run(process.execPath, args, { cwd: folder })
  t.strictSame(JSON.parse(stdout), {
    triples: 4,
    cores: ['urn:visit'],
    imported: 2,
    page: [2, ['punt']],
    refused: [404, 'LK_CORE_NOT_FOUND'],
  })
  t.strictSame(await readFile(join(folder, 'exported.core')), sent)
})
