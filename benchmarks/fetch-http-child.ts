// node --max-old-space-size=128 fetch-http-child.js node|fetch DIRECTORY
//
// Serves a store in the directory by one of the two handlers; that of the Fetch standard behind the adapter of Hono.
// Each message of its parent is answered with the processor time until then, and the highest memory.

import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { LevelBackend } from '../adapters/level/index.js'
import { createFetchHandler, createHandler } from '../src/http/index.js'
import { createLorekeep } from '../src/index.js'
import { serve } from './http-server.js'
import { statusKiB } from './process-status.js'

export interface Usage {
  readonly url: string
  readonly cpuSeconds: number
  readonly peakKiB: number
}

const [door = '', directory = ''] = process.argv.slice(2)
const { knowledge } = await createLorekeep({ backend: new LevelBackend(directory) })
const { url } = await serve(
  door === 'node'
    ? asListener(createHandler({ knowledge, authenticate: 'none' }))
    : await listenerOf(createFetchHandler({ knowledge, authenticate: 'none' })),
)
process.on('message', tell)
process.on('disconnect', () => process.exit())
tell()

function tell(): void {
  const { user, system } = process.cpuUsage()
  const peakKiB = statusKiB('VmHWM')
  process.send?.({ url, cpuSeconds: (user + system) / 1e6, peakKiB } satisfies Usage)
}

function asListener(handler: ReturnType<typeof createHandler>): Listener {
  return (request, response) => void handler(request, response)
}

/** The repository's own: the peers of the benchmarks have none. */
async function listenerOf(answer: (request: Request) => Promise<Response>): Promise<Listener> {
  const require = createRequire(`${process.cwd()}/package.json`)
  const module = require.resolve('@hono/node-server')
  const { getRequestListener } = (await import(pathToFileURL(module).href)) as {
    getRequestListener(answer: unknown, options: object): Listener
  }
  return getRequestListener(answer, { overrideGlobalObjects: false })
}

type Listener = Parameters<typeof serve>[0]
