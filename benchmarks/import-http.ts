// Durable import into LevelDB over HTTP against the same import in process. The client is a
// process of its own and sends from memory.

import { join } from 'node:path'
import { Readable } from 'node:stream'
import { LevelBackend } from '../adapters/level/index.js'
import { createHandler } from '../src/http/index.js'
import { createLorekeep, type ImportSummary } from '../src/index.js'
import { createClient } from './http-client.js'
import { serve } from './http-server.js'
import { check, compareRates, inDirectory, interleave, MiB, note, report } from './measure.js'
import { seconds } from './measure.js'
import { createStream, cut, ref } from './stream.js'

const rounds = 7

for (const kind of ['triples', 'embeddings'] as const) {
  const stream = createStream(kind, 160 * MiB)
  const chunks = cut(stream.bytes, 128 * 1024)
  const client = createClient()
  const prepared = await client.run({ type: 'prepare', kind, bytes: 160 * MiB })
  check(prepared.bytes === stream.bytes.length, "the length of the client's stream")
  note(`import of ${kind} over HTTP`)

  /** A fresh store for each import. */
  const inStore = (
    work: (lorekeep: Awaited<ReturnType<typeof createLorekeep>>) => Promise<number>,
  ) =>
    inDirectory(async (directory) => {
      await using lorekeep = await createLorekeep({
        backend: new LevelBackend(join(directory, 'data')),
      })
      const time = await work(lorekeep)
      const stat = await lorekeep.knowledge.stat(ref)
      check(stat?.digest === stream.digest && stat.messages === stream.messages, 'the core')
      return time
    })

  const times = await interleave(rounds, {
    http: () =>
      inStore(async ({ knowledge }) => {
        const handler = createHandler({ knowledge, authenticate: 'none' })
        const server = await serve((request, response) => void handler(request, response))
        globalThis.gc?.()
        const url = `${server.url}/api/v1/import-core?${new URLSearchParams(ref).toString()}`
        const outcome = await client.run({ type: 'send', url })
        check(outcome.status === 200, `the status: ${outcome.status} ${outcome.body}`)
        const { digest } = JSON.parse(outcome.body ?? '') as ImportSummary
        check(digest === stream.digest, 'the digest of the import')
        await server.close()
        return outcome.seconds
      }),
    inProcess: () =>
      inStore(({ knowledge }) => seconds(() => knowledge.import(ref, Readable.from(chunks)))),
  })
  client.close()
  const scenario = `import ${kind} over HTTP`
  const peer = 'the same import in process'
  const bytes = stream.bytes.length
  report(compareRates({ scenario, peer }, bytes, times.http, times.inProcess, { least: 0.7 }))
}
