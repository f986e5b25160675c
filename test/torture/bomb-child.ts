// node bomb-child.js node|fetch DIRECTORY MAX_CORE_BYTES: a server by one of the two handlers, over LevelDB. Each message
// of its parent is answered with the highest memory until then.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { LevelBackend } from '../../adapters/level/index.js'
import { createFetchHandler, createHandler } from '../../src/http/index.js'
import { createLorekeep } from '../../src/index.js'

export interface Told {
  readonly port: number
  readonly peakKiB: number
}

const [door = '', directory = '', maxCoreBytes = ''] = process.argv.slice(2)
const { knowledge, objects } = await createLorekeep({ backend: new LevelBackend(directory) })
const options = { knowledge, objects, maxCoreBytes: Number(maxCoreBytes) }
const authenticate = () => ({ user: 'alice' })
const handler = createHandler({ ...options, authenticate })
const answer = createFetchHandler({ ...options, authenticate })
const listener = getRequestListener(answer, { overrideGlobalObjects: false })
const server = createServer((request, response) => {
  void (door === 'node' ? handler(request, response) : listener(request, response))
})
server.listen(0, '127.0.0.1', () => tell())
process.on('message', tell)
process.on('disconnect', () => process.exit())

function tell(): void {
  const status = readFileSync('/proc/self/status', 'latin1')
  const peakKiB = Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1])
  process.send?.({ port: (server.address() as AddressInfo).port, peakKiB } satisfies Told)
}
