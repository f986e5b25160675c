// `lorekeep import` of a core stream or RDF from a file or stdin into a core.

import { basename } from 'node:path'
import { performance } from 'node:perf_hooks'
import { broken } from '../../../door/rules.js'
import { aBase, defaultBase } from '../../../flow/steps/vocabulary.js'
import type { ImportSummary } from '../../../knowledge/types.js'
import { rdfFormatNamed, rdfFormatOfFile } from '../../../rdf/format.js'
import type { RdfFormat } from '../../../rdf/format.js'
import { importRdf } from '../../../rdf/import.js'
import type { RdfRest } from '../../../rdf/import.js'
import { describeExtras } from '../../../rdf/parse.js'
import { isAbsoluteIri } from '../../../rdf/terms.js'
import { withCores } from '../../access/access.js'
import { interruptible, note, UsageError } from '../../output/failure.js'
import { formatBytes, formatCounted, printable } from '../../output/figures.js'
import { openInput } from '../../input/input.js'
import { encodedMessages } from './encoded-messages.js'
import { memoryMessages, noCounts, type MemoryCounts } from './memory-file.js'
import type { ImportCommandOptions } from './import-options.js'
import { writeJson } from '../../output/output.js'
import { counted, createProgress, units } from '../../output/progress.js'

export async function importCore(file: string, options: ImportCommandOptions): Promise<void> {
  if (options.flow !== undefined) {
    throw new UsageError('--flow is for workspaces: --format tgx says that it is one')
  }
  const ref = { user: options.user, id: options.id ?? idFrom(file) }
  const format = formatOf(file, options)
  const start = performance.now()
  const memory = noCounts()
  const input = await openInput(file, 'a core')
  let summary: ImportSummary & RdfRest
  try {
    summary = await withCores(options, { create: true }, (cores) =>
      interruptible(async (signal) => {
        const progress = createProgress(input.bytes, units.triples)
        const onProgress = ({ triples }: { triples: number }) => progress.count(triples)
        const { mode, index = false, dialect } = options
        try {
          const bytes = counted(input.stream, progress)
          const source = options.allowEmpty ? bytes : refuseEmpty(bytes, file)
          const store = (core: AsyncIterable<Uint8Array>) =>
            cores.import(ref, core, { mode, index, dialect, signal, onProgress })
          if (format === undefined) return await store(source)
          const { loss, base, collection = 'default' } = options
          if (format === 'memory') {
            const given = { file, ref, collection, base: base ?? defaultBase, counts: memory }
            return await store(encodedMessages(memoryMessages(source, given)))
          }
          // Here rather than in a server: what it stores is the same, and needs no library there.
          return await importRdf(source, { format, loss, base, collection }, (messages) =>
            store(encodedMessages(messages)),
          )
        } finally {
          progress.stop()
        }
      }),
    )
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
  if (format === 'memory') tellMemory(memory)
  const { dialect, skipped, kept, lost, reified } = summary
  if (dialect !== 'specification') note(`read from the dialect ${dialect}`)
  const left = Object.entries(skipped).map(([name, count]) => `${count} ${name}`)
  if (left.length > 0) note(`a core has no place for ${left.join(', ')}: left out`)
  if (kept && kept.statements > 0) note(`among them ${describeExtras(kept)}`)
  if (lost && lost.statements > 0) {
    note(`left out: ${describeExtras(lost)} (--loss keep keeps them)`)
  }
  if (reified && reified.statements > 0) {
    note(`kept as reified statements: ${describeExtras(reified)}`)
  }
}

function tellMemory({
  entities,
  observations,
  relations,
  dangling,
  repeated,
  unknown,
}: MemoryCounts) {
  const told = [
    formatCounted(entities, 'entity', 'entities'),
    formatCounted(observations, 'observation'),
    formatCounted(relations, 'relation'),
  ]
  note(`read from a memory file: ${told.join(', ')}`)
  if (dangling > 0) note(`${formatCounted(dangling, 'name')} in relations alone`)
  if (repeated > 0) note(`said twice, and kept once: ${repeated}`)
  const left = [...unknown].map(([name, count]) => `${count} ${printable(name)}`)
  if (left.length > 0) note(`left out: ${left.slice(0, 10).join(', ')}`)
}

/** Undefined is a core. @throws UsageError */
function formatOf(file: string, options: ImportCommandOptions): RdfFormat | 'memory' | undefined {
  const { format: named, base, dialect } = options
  if (named === 'memory' || (named === undefined && /\.jsonl$/i.test(file))) {
    const flag = (['loss', 'dialect'] as const).find((name) => options[name] !== undefined)
    if (flag !== undefined) throw new UsageError(`--${flag} is not for memory files`)
    if (base === undefined || aBase.holds(base)) return 'memory'
    throw new UsageError(`--base ${broken(aBase, base)}`)
  }
  const format = named === undefined ? rdfFormatOfFile(file) : rdfFormatNamed(named)
  if (format !== undefined) {
    if (dialect !== undefined) throw new UsageError('--dialect is for core streams, not for RDF')
    if (base === undefined || isAbsoluteIri(base)) return format
    throw new UsageError(`--base is an absolute IRI, such as https://example.org/, not '${base}'`)
  }
  const flag = (['loss', 'base', 'collection'] as const).find((name) => options[name] !== undefined)
  if (flag === undefined) return undefined
  throw new UsageError(`--${flag} is for RDF: --format says which, such as --format turtle`)
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
  throw new Error(
    `${file === '-' ? 'stdin' : `'${file}'`} is empty (--allow-empty imports an empty core)`,
  )
}

/** `shelf/books.core` and `books.ttl` are the core `books`, unless --id says otherwise. */
function idFrom(file: string): string {
  if (file === '-') throw new UsageError('stdin has no name: --id must say what the core is called')
  return basename(file).replace(/(.)\.(?:core|nt|nq|ttl|trig|jsonl)$/, '$1')
}
