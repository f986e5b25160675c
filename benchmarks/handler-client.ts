// Sends what its parent says, some at a time, and answers each message with the bytes of all bodies that came.

import { Agent, request } from 'node:http'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: string
}

export interface Asking extends Asked {
  readonly url: string
  readonly count: number
}

const connections = 8
const agent = new Agent({ keepAlive: true, maxSockets: connections })

process.on('message', (asking: Asking) => {
  void ask(asking).then((bytes) => process.send?.(bytes))
})
process.on('disconnect', () => process.exit())

async function ask(asking: Asking): Promise<number> {
  let [left, bytes] = [asking.count, 0]
  const work = async () => {
    while (left-- > 0) {
      const came = await once(asking)
      bytes += came
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  return bytes
}

function once({ url, method, path, body }: Asking): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: 'Bearer secret' }
    const outgoing = request(url + path, { method, headers, agent }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.byteLength))
      response.on('end', () => resolve(bytes)).on('error', reject)
    })
    outgoing.on('error', reject).end(body)
  })
}
