// Threads of lorekeep's own modules, which a bundler may have left behind or made something else of.

import { Worker } from 'node:worker_threads'

/** The first message of each, before its module has been run to its end. */
export interface Ready {
  readonly type: 'ready'
}

/** Of modules that were another program. Once is enough: it may have done something. */
const foreign = new Map<string, Error>()

/**
 * Resolves when the module has said that it is ready. An error of the thread that comes when nobody listens is of no
 * interest: whoever uses it has to.
 * @throws Error where it cannot be started, or where the file is another program
 */
export async function startThread(module: URL): Promise<Worker> {
  const { href, pathname } = module
  const before = foreign.get(href)
  if (before !== undefined) throw before
  // A file of that name may be another program, which would run on and never say anything.
  const entry = `
import('node:worker_threads').then(async ({ parentPort }) => {
  await import(${JSON.stringify(href)})
  parentPort.postMessage({ type: 'loaded' })
})`
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(entry)}`))
  worker.on('error', () => undefined)
  await new Promise<void>((resolve, reject) => {
    worker.once('message', ({ type }: Partial<Ready>) => {
      if (type === 'ready') return resolve()
      const name = pathname.slice(pathname.lastIndexOf('/') + 1)
      const error = new Error(`${name} is another program: it did not say that it is ready`)
      foreign.set(href, error)
      void worker.terminate()
      reject(error)
    })
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('it ended before it was ready')))
  })
  return worker
}

const warned = new Set<string>()

/** Once for each: what follows of it is slower, and not wrong. */
export function warnOfThread(name: string, consequence: string, error: unknown): void {
  if (warned.has(name)) return
  warned.add(name)
  const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
  process.emitWarning(
    `lorekeep ${consequence} without a thread of their own, which holds up what else runs here: it could not be started (${reason}). A bundle needs lorekeep/${name} beside it, as ${name}.js: docs/bundlers.md`,
  )
}
