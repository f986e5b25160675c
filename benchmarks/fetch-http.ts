// Import and export of 2 GiB through createFetchHandler, behind the adapter of Hono, against createHandler: the
// processor time of the server, a process of its own with a heap of 128 MiB, and the most memory that it takes.

import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { Usage } from './fetch-http-child.js'
import { check, compareRates, inDirectory, MiB, note, report } from './measure.js'
import { EndlessStream, ref } from './stream.js'

const bytes = 2048 * MiB
/** One takes some two minutes. */
const rounds = 1
const query = new URLSearchParams(ref).toString()

interface Taken {
  readonly importing: number
  readonly exporting: number
  readonly peakKiB: number
}
const taken: Record<'node' | 'fetch', Taken[]> = { node: [], fetch: [] }
for (let round = 0; round < rounds; round++) {
  for (const door of ['node', 'fetch'] as const) taken[door].push(await inDirectory(through(door)))
}
const peer = 'createHandler()'
for (const what of ['importing', 'exporting'] as const) {
  const of = (door: 'node' | 'fetch') => taken[door].map((times) => times[what])
  const scenario = `${what} 2 GiB by createFetchHandler(), processor time`
  report(compareRates({ scenario, peer }, bytes, of('fetch'), of('node'), { least: 0.6 }))
}
const peakOf = (door: 'node' | 'fetch') =>
  Math.round(Math.max(...taken[door].map(({ peakKiB }) => peakKiB)) / 1024)
const peak = peakOf('fetch')
report({
  scenario: 'VmHWM of a server, both of 2 GiB by createFetchHandler()',
  peer,
  ours: `${peak} MiB`,
  theirs: `${peakOf('node')} MiB`,
  ...{ value: peak, low: peak, high: peak, unit: 'MiB', target: { most: 384 } },
})

function through(door: 'node' | 'fetch'): (directory: string) => Promise<Taken> {
  return async (directory) => {
    const script = fileURLToPath(new URL('./fetch-http-child.js', import.meta.url))
    const execArgv = ['--max-old-space-size=128']
    const child = fork(script, [door, directory], { execArgv })
    const told = async () => ((await once(child, 'message')) as [Usage])[0]
    const usage = async () => {
      child.send('usage')
      return told()
    }
    const { url, cpuSeconds: atStart } = await told()
    const begun = performance.now()
    const digest = await post(`${url}/api/v1/import-core?${query}`)
    const imported = await usage()
    const between = performance.now()
    const got = await get(`${url}/api/v1/export-core?${query}`)
    const exported = await usage()
    check(got === digest, 'the bytes of the export')
    child.disconnect()
    await once(child, 'exit')
    const seconds = [between - begun, performance.now() - between].map((ms) => ms / 1000)
    note(`  ${door}: import ${seconds[0]?.toFixed(1)} s, export ${seconds[1]?.toFixed(1)} s`)
    return {
      importing: imported.cpuSeconds - atStart,
      exporting: exported.cpuSeconds - imported.cpuSeconds,
      peakKiB: exported.peakKiB,
    }
  }
}

/** Gives the digest of what was sent. */
async function post(url: string): Promise<string> {
  const stream = new EndlessStream(128 * 1024)
  const outgoing = request(url, { method: 'POST' })
  const answer = once(outgoing, 'response') as Promise<[IncomingMessage]>
  for await (const chunk of stream.chunks(bytes)) {
    // What it gives is good until it gives the next.
    if (!outgoing.write(Buffer.from(chunk))) await once(outgoing, 'drain')
  }
  outgoing.end()
  const [response] = await answer
  const body = (await response.setEncoding('utf8').toArray()).join('')
  check(response.statusCode === 200, `the import: ${body}`)
  const digest = stream.digest()
  check((JSON.parse(body) as { digest: string }).digest === digest, 'the digest of the import')
  return digest
}

async function get(url: string): Promise<string> {
  const [response] = (await once(request(url).end(), 'response')) as [IncomingMessage]
  const hash = createHash('sha256')
  for await (const chunk of response) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
