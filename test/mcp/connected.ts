// Assistants of tests that speak with a server in this process.

import { InMemoryTransport } from '@modelcontextprotocol/client'
import * as sdk from '@modelcontextprotocol/server'
import type { Test } from 'tap'
import type { Lorekeep } from '../../src/lorekeep.js'
import { createServer } from '../../src/mcp/server.js'
import { userStores, type UserStores } from '../../src/mcp/stores.js'
import { assistantOf, createClient, type Assistant } from './assistant.js'

export function assistantFor(
  t: Test,
  keep: Lorekeep,
  user: string,
  mayWrite = false,
): Promise<Assistant> {
  const stores = userStores(keep, { user, flow: 'default', scope: { user } })
  return connected(t, stores, (error) => t.fail(String(error)), mayWrite)
}

export async function connected(
  t: Test,
  stores: UserStores | Promise<UserStores>,
  onError: (error: unknown) => void,
  mayWrite = false,
): Promise<Assistant> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const writing = 'lorekeep mcp --write offers it'
  const server = createServer(sdk, { stores, mayWrite, writing, onError })
  await server.connect(ours as never)
  const client = createClient('legacy')
  await client.connect(theirs)
  t.teardown(() => client.close())
  return assistantOf(client)
}
