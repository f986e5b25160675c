// Export over HTTP against a bare node:http server that sends the same bytes from memory. Both
// servers are in this process, the client in one of its own. Beside it a bare server that sends what it reads from files
// and checks: what cannot be left out where the bytes are not in memory.

import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { LevelBackend } from '../adapters/level/index.js'
import { createHandler } from '../src/http/index.js'
import { createLorekeep } from '../src/index.js'
import { createClient } from './http-client.js'
import { serve } from './http-server.js'
import { CheckedFiles, filesName } from './checked-files.js'
import { check, compareRates, inDirectory, interleave, MiB, note, report } from './measure.js'
import { createStream, cut, ref } from './stream.js'

const rounds = 9

await inDirectory(async (directory) => {
  const stream = createStream('triples', 320 * MiB)
  const buffers = cut(stream.bytes, MiB)
  const lorekeep = await createLorekeep({ backend: new LevelBackend(join(directory, 'lorekeep')) })
  await lorekeep.knowledge.import(ref, stream.bytes)
  const handler = createHandler({ knowledge: lorekeep.knowledge, authenticate: 'none' })
  const ours = await serve((request, response) => void handler(request, response))
  const bare = await serve((_, response) => {
    void (async () => {
      response.writeHead(200, { 'Content-Length': stream.bytes.length })
      for (const buffer of buffers) if (!response.write(buffer)) await once(response, 'drain')
      response.end()
    })()
  })
  const directoryOfFiles = join(directory, 'files')
  await mkdir(directoryOfFiles)
  const files = await CheckedFiles.write(directoryOfFiles, buffers)
  const checked = await serve((_, response) => {
    void (async () => {
      response.writeHead(200, { 'Content-Length': stream.bytes.length })
      for await (const bytes of files.read()) {
        if (!response.write(bytes)) await once(response, 'drain')
      }
      response.end()
    })()
  })
  const client = createClient()
  const query = new URLSearchParams(ref).toString()

  for (const hash of [false, true]) {
    note(`export over HTTP, the client ${hash ? 'hashes' : 'counts'}`)
    const fetch = async (url: string) => {
      globalThis.gc?.()
      const got = await client.run({ type: 'fetch', url, hash })
      check(got.status === 200 && got.bytes === stream.bytes.length, 'the length of the body')
      check(!hash || got.digest === stream.digest, 'the bytes of the body')
      return got.seconds
    }
    const times = await interleave(rounds, {
      ours: () => fetch(`${ours.url}/api/v1/export-core?${query}`),
      bare: () => fetch(bare.url),
      checked: () => fetch(checked.url),
    })
    const scenario = `export over HTTP, client ${hash ? 'hashes' : 'counts'}`
    const peer = 'bare node:http sending from memory'
    const bytes = stream.bytes.length
    report(compareRates({ scenario, peer }, bytes, times.ours, times.bare, { least: 0.8 }))
    const limit = { scenario, peer: `bare node:http sending ${filesName}` }
    report(compareRates(limit, bytes, times.ours, times.checked, { least: 0.8 }))
  }

  client.close()
  await Promise.all([ours.close(), bare.close(), checked.close()])
  await lorekeep.close()
})
