// `lorekeep export`: a core to a file or stdout, as it is or as RDF.

import type { ExportDialect } from '../../../codec/dialects/names.js'
import { MessageDecoder } from '../../../codec/decoder.js'
import { rdfFormatNamed, rdfFormatOfFile } from '../../../rdf/format.js'
import { writeRdf } from '../../../rdf/write.js'
import type { RdfText } from '../../../rdf/write.js'
import type { CoreMessage } from '../../../types.js'
import { writeWholeFile } from '../../../whole-file.js'
import { withCores } from '../../access/access.js'
import type { CoreBytes } from '../../access/core-access.js'
import type { AccessOptions } from '../../access/access.js'
import { interruptible, note, UsageError } from '../../output/failure.js'
import { formatBytes, formatCounted } from '../../output/figures.js'
import { refuseTerminal, writeOut } from '../../output/output.js'

interface ExportCommandOptions extends AccessOptions {
  readonly id: string
  readonly user: string
  readonly output?: string
  /** A format of RDF, or `core`. By default what the name of the file says, or else `core`. */
  readonly format?: string
  readonly dialect?: ExportDialect
}

export async function exportCore(options: ExportCommandOptions): Promise<void> {
  const { id, user, output = '-' } = options
  const format =
    options.format === undefined ? rdfFormatOfFile(output) : rdfFormatNamed(options.format)
  const { dialect = 'specification' } = options
  if (format !== undefined && options.dialect !== undefined) {
    throw new UsageError('--dialect is for core streams, not for RDF')
  }
  const [extension] = /\.(?:jsonld|json|rdf|xml|n3|csv)$/i.exec(output) ?? []
  if (extension !== undefined && options.format === undefined && options.dialect === undefined) {
    throw new UsageError(
      `nothing is written as ${extension}: RDF ends in .nt, .nq, .ttl or .trig, and --format core is for a core stream of that name`,
    )
  }
  if (output === '-' && format === undefined) {
    refuseTerminal('redirect stdout, name a file with -o, or ask for --format turtle')
  }
  await withCores(options, { create: false }, async (cores) => {
    const { bytes, counts } = await interruptible(async (signal) => {
      const found = await cores.export({ id, user }, { dialect, signal })
      const core = dialect === 'specification' ? whole(found, signal) : unlessAborted(found, signal)
      const text = format === undefined ? undefined : writeRdf(messagesOf(core), { format })
      let bytes = 0
      const counted = async function* () {
        for await (const chunk of text ?? core) {
          bytes += chunk.byteLength
          yield chunk
        }
      }
      if (output === '-') for await (const chunk of counted()) await writeOut(chunk)
      else await writeWholeFile(output, counted())
      return { bytes, counts: text?.counts }
    })
    note(
      `exported '${id}' of '${user}': ${formatBytes(bytes)}${output === '-' ? '' : ` in ${output}`}`,
    )
    if (counts) reportRdf(counts)
  })
}

/** What of the core is not in the text as it is in the core. */
function reportRdf({ embeddings, encoded }: RdfText['counts']): void {
  if (embeddings > 0) {
    note(
      `RDF has no place for embeddings: ${formatCounted(embeddings, 'entity', 'entities')} left out`,
    )
  }
  if (encoded > 0) {
    note(`${formatCounted(encoded, 'term')} that RDF has no place for: written as urn:lorekeep:…`)
  }
}

async function* messagesOf(
  core: AsyncIterable<Uint8Array>,
): AsyncGenerator<CoreMessage, void, undefined> {
  const decoder = new MessageDecoder()
  for await (const chunk of core) yield* decoder.push(chunk)
  decoder.finish()
}

/** The chunks of an export, and an error where there are fewer or more bytes than announced. */
async function* whole(
  core: CoreBytes,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0
  for await (const chunk of unlessAborted(core, signal)) {
    bytes += chunk.byteLength
    yield chunk
  }
  if (bytes !== core.bytes) {
    throw new Error(`the export ended after ${bytes} of ${core.bytes} bytes`)
  }
}

async function* unlessAborted(
  core: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of core) {
    signal.throwIfAborted()
    yield chunk
  }
}
