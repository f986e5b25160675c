// `lorekeep import`: a core stream from a file or stdin into a core.

import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Readable } from 'node:stream'
import type { ImportSummary } from '../knowledge/types.js'
import { openCores } from './open-cores.js'
import type { AccessOptions } from './open-cores.js'
import { interruptible, note, UsageError } from './failure.js'
import { formatBytes, formatCounted } from './figures.js'
import { writeJson } from './output.js'
import { counted, createProgress } from './progress.js'

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
  const input = await openInput(file)
  let summary: ImportSummary
  try {
    const cores = await openCores(options, { create: true })
    try {
      summary = await interruptible(async (signal) => {
        const progress = createProgress(input.bytes)
        const onProgress = ({ triples }: { triples: number }) => progress.triples(triples)
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

interface Input {
  readonly stream: Readable
  /** Undefined for everything that is no regular file. */
  readonly bytes: number | undefined
}

async function openInput(file: string): Promise<Input> {
  if (file === '-') {
    if (process.stdin.isTTY) {
      throw new UsageError('stdin is a terminal: name a file, or pipe a core into this command')
    }
    return { stream: process.stdin, bytes: undefined }
  }
  // Opened before anything else: a file that is not there leaves no empty data directory.
  const handle = await open(file, 'r')
  const found = await handle.stat()
  if (found.isDirectory()) {
    await handle.close()
    throw new Error(`'${file}' is a directory`)
  }
  const stream = createReadStream('', { fd: handle, highWaterMark: 256 * 1024 })
  return { stream, bytes: found.isFile() ? found.size : undefined }
}
