// A server of HTTP before programs that speak the protocol over stdio: one for each `initialize`, one for all that says
// which version it is of, as messages of 2026-07-28 do, and one for all else. A stream is of one era.

import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly _meta?: Readonly<Record<string, unknown>> }
}

export async function bridge(args: readonly string[]) {
  const programs = new Map<string, Program>()
  const programOf = (session: string) => {
    const program = programs.get(session) ?? new Program(args)
    programs.set(session, program)
    return program
  }
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message
    const isFirst = message.method === 'initialize'
    const named = request.headers['mcp-session-id']
    const session = isFirst ? randomUUID() : String(named ?? eraOf(message))
    const answer = await programOf(session).ask(message)
    const headers = {
      'content-type': 'application/json',
      ...(isFirst && { 'mcp-session-id': session }),
    }
    if (answer === undefined) return response.writeHead(202).end()
    return response.writeHead(200, headers).end(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      server.close()
      server.closeAllConnections()
      await Promise.all([...programs.values()].map((program) => program.close()))
    },
  }
}

function eraOf({ params }: Message): string {
  return params?._meta?.['io.modelcontextprotocol/protocolVersion'] === undefined ? 'old' : 'new'
}

class Program {
  readonly #child: ChildProcess
  readonly #waiting = new Map<string | number, (answer: Message) => void>()

  constructor(args: readonly string[]) {
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child = child
    createInterface({ input: child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as Message
      if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer)
    })
  }

  /** Nothing where it is a notification. Those who share a program count their questions alike: each gets an id here. */
  async ask(message: Message): Promise<string | undefined> {
    const { id } = message
    const own = randomUUID()
    const isQuestion = id !== undefined && message.method !== undefined
    this.#child.stdin?.write(`${JSON.stringify(isQuestion ? { ...message, id: own } : message)}\n`)
    if (!isQuestion) return undefined
    const answer = await new Promise<Message>((resolve) => this.#waiting.set(own, resolve))
    return JSON.stringify({ ...answer, id })
  }

  async close(): Promise<void> {
    this.#child.stdin?.end()
    await once(this.#child, 'close')
  }
}
