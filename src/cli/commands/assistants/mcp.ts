// `lorekeep mcp`: what is stored, for the assistant that has started it, until it closes stdin.

import type { AccessOptions } from '../../access/access.js'
import { openUserStores } from '../../access/user-stores.js'
import { interruptible, noteError } from '../../output/failure.js'
import { serveStdio } from '../../../mcp/stdio.js'

interface McpOptions extends AccessOptions {
  readonly user: string
  readonly write?: true
}

export async function serveAssistant(version: string, options: McpOptions): Promise<void> {
  const mayWrite = options.write === true
  const access = await openUserStores({ ...options, create: mayWrite })
  const onError = (error: unknown) => noteError('for the assistant', error, 1)
  try {
    if (mayWrite) access.run()
    await interruptible((signal) =>
      serveStdio({ stores: access.stores, version, mayWrite, onError }, signal),
    )
  } finally {
    await access.close()
  }
}
