// `lorekeep import`: a core stream from a file or stdin into a core.

import { basename } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { ImportSummary } from '../knowledge/types.js'
import { openCores } from './access.js'
import type { AccessOptions } from './access.js'
import { interruptible, note, UsageError } from './failure.js'
import { formatBytes, formatCounted } from './figures.js'
import { openInput } from './input.js'
import { writeJson } from './output.js'
import { counted, createProgress, units } from './progress.js'

export interface ImportCommandOptions extends AccessOptions {
  readonly id?: string
  readonly user: string
  readonly mode: 'append' | 'replace'
  readonly allowEmpty?: true
  readonly json?: true
}

export async function importCore(file: string, options: ImportCommandOptions): Promise<void> {
  const ref = { user: options.user, id: options.id ?? idFrom(file) }
  const start = performance.now()
  const input = await openInput(file, 'a core')
  let summary: ImportSummary
  try {
    const cores = await openCores(options, { create: true })
    try {
      summary = await interruptible(async (signal) => {
        const progress = createProgress(input.bytes, units.triples)
        const onProgress = ({ triples }: { triples: number }) => progress.count(triples)
        const { mode } = options
        try {
          const bytes = counted(input.stream, progress)
          const source = options.allowEmpty ? bytes : refuseEmpty(bytes, file)
          return await cores.import(ref, source, { mode, signal, onProgress })
        } finally {
          progress.stop()
        }
      })
    } finally {
      await cores.close()
    }
  } finally {
    // Stdin that nobody reads to its end would keep the process alive.
    input.stream.destroy()
  }
  if (options.json) await writeJson(summary)
  const { messages, triples, entities, bytes, duplicate } = summary
  const counts = [
    formatCounted(messages, 'message'),
    formatCounted(triples, 'triple'),
    formatCounted(entities, 'entity', 'entities'),
    `${formatBytes(bytes)} in ${((performance.now() - start) / 1000).toFixed(1)} s`,
  ].join(', ')
  const name = `'${ref.id}' of '${ref.user}'`
  const outcome = duplicate ? `${name} held this already, nothing was stored` : `imported ${name}`
  note(`${outcome}: ${counts}`)
}

/** An empty input is nearly always a command in front of the pipe that failed. */
async function* refuseEmpty(
  source: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    yield chunk
  }
  if (bytes > 0) return
  const name = file === '-' ? 'stdin' : `'${file}'`
  throw new Error(`${name} is empty (--allow-empty imports an empty core)`)
}

/** `shelf/books.core` is the core `books`, unless --id says otherwise. */
function idFrom(file: string): string {
  if (file === '-') throw new UsageError('stdin has no name: --id must say what the core is called')
  return basename(file).replace(/(.)\.core$/, '$1')
}
