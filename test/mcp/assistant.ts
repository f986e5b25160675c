// Assistants of tests: the official client, of a process of `lorekeep mcp`.

import type { ChildProcess } from 'node:child_process'
import { Client } from '@modelcontextprotocol/client'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Test } from 'tap'
import { script } from '../cli/command.js'

/** Both eras of the protocol: the client of each asks first whether the server is of the newer one, or does not. */
export type Era = 'modern' | 'legacy'

export interface Assistant {
  readonly client: Client
  /** Of the process. */
  readonly pid: number
  call(name: string, given?: Readonly<Record<string, unknown>>): Promise<CallToolResult>
}

/** Starts `lorekeep mcp`, which ends after the test. */
export async function startAssistant(
  t: Test,
  args: readonly string[],
  era: Era = 'modern',
): Promise<Assistant> {
  const client = createClient(era)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [script, 'mcp', ...args],
  })
  await client.connect(transport)
  // The client listens once for each message that waits until there is room, of a thousand that are sent at once.
  const { _process } = transport as unknown as { readonly _process: ChildProcess }
  _process.stdin?.setMaxListeners(0)
  t.teardown(() => client.close())
  return assistantOf(client, transport.pid ?? 0)
}

export function createClient(era: Era): Client {
  const versionNegotiation = { mode: era === 'modern' ? 'auto' : 'legacy' } as const
  return new Client({ name: 'test', version: '1' }, { versionNegotiation })
}

export function assistantOf(client: Client, pid = 0): Assistant {
  return {
    client,
    pid,
    call: (name, given = {}) => client.callTool({ name, arguments: given }),
  }
}

export function textOf({ content }: CallToolResult): string {
  const [first] = content
  return first?.type === 'text' ? first.text : ''
}
