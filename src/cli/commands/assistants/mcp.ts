// `lorekeep mcp`: what is stored, for the assistant that has started it, until it closes stdin.

import type { AccessOptions } from '../../access/access.js'
import { openUserStores } from '../../access/user-stores.js'
import type { LorekeepError } from '../../../errors.js'
import { interruptible, noteError } from '../../output/failure.js'
import { status } from '../../../http/problem.js'
import { serveStdio } from '../../../mcp/stdio.js'
import type { UserStores } from '../../../mcp/stores.js'

interface McpOptions extends AccessOptions {
  readonly user: string
  readonly write?: true
}

const writing = 'lorekeep mcp --write offers it'

/** The assistant is answered from the start on; what asks the stores waits until they are open. */
export async function serveAssistant(options: McpOptions): Promise<void> {
  const mayWrite = options.write === true
  const onError = (error: unknown) => noteError('for the assistant', error, 1)
  const onRefusal = (error: LorekeepError) => {
    if (status[error.code] >= 500) onError(error)
    return error
  }
  // The protocol is loaded meanwhile: opening waits for the disk, and loading for the processor.
  const opening = openUserStores({ ...options, create: mayWrite })
  const failing = new AbortController()
  const stores = new Promise<UserStores>((resolve) => {
    opening.then(
      (access) => {
        if (mayWrite) access.run()
        resolve(access.stores)
      },
      // Nobody is answered any more, but told why on stderr.
      (error: unknown) => failing.abort(error),
    )
  })
  try {
    await interruptible((signal) =>
      serveStdio(
        { stores, mayWrite, writing, onError, onRefusal },
        AbortSignal.any([signal, failing.signal]),
      ),
    )
  } finally {
    await (await opening).close()
  }
}
