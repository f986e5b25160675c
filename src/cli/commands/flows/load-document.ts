// A file as the document that a flow takes.

import { basename } from 'node:path'
import type { FileDocument } from '../../../flow/types.js'
import type { Triple } from '../../../types.js'
import { UsageError } from '../../output/failure.js'
import { inputName, openInput, readJsonInput } from '../../input/input.js'
import type { TextFile, TextFiles } from '../../input/text-files.js'

/** Each becomes a triple per value, `http://purl.org/dc/terms/` and its name. */
const dublinCore = ['creator', 'subject', 'description', 'date', 'language'] as const

export type DocumentFlags = {
  readonly id?: string
  readonly user: string
  readonly collection?: string
  readonly title?: string
  /** Of texts: a label of the Encoding Standard, or `auto`. */
  readonly charset: string
  /** A file of triples in JSON. */
  readonly metadata?: string
} & { readonly [Name in (typeof dublinCore)[number]]?: readonly string[] }

export type OwnedDocument = FileDocument & { readonly id: string; readonly user: string }

/** Much more than a store takes; a file that is as long is not read to its end. */
const maxFileBytes = 256 * 1024 * 1024

/** What of the flags is the same for each file. @throws UsageError */
export async function documentReader(
  { files: texts, passedOver }: TextFiles,
  flags: DocumentFlags,
) {
  const files = texts.map(({ file }) => file)
  if (files.length > 1 || passedOver !== undefined) {
    for (const flag of ['id', 'title'] as const) {
      if (flags[flag] !== undefined) throw new UsageError(`--${flag} is for one file`)
    }
  }
  if (files.filter((file) => file === '-').length > 1) throw new UsageError('stdin is named twice')
  if (files.includes('-') && flags.metadata === '-') {
    throw new UsageError('stdin can not be the text and its metadata')
  }
  if (files.includes('-') && flags.id === undefined) {
    throw new UsageError('stdin has no name: --id must say what the document is called')
  }
  const { metadata: file, user, collection, title, charset } = flags
  const given = file === undefined ? [] : await readTriples(file)

  return async ({ file, id: ownId }: TextFile, signal?: AbortSignal): Promise<OwnedDocument> => {
    const id = flags.id ?? ownId
    const bytes = await readBytes(file, signal)
    const metadata = [...dublinCoreOf(id, flags), ...given]
    return {
      id,
      user,
      ...(collection !== undefined && { collection }),
      ...(title !== undefined && { title }),
      ...(metadata.length > 0 && { metadata }),
      ...(file !== '-' && { name: basename(file) }),
      ...(charset !== 'auto' && { charset }),
      bytes,
    }
  }
}

async function readBytes(file: string, signal: AbortSignal | undefined): Promise<Buffer> {
  const { stream } = await openInput(file, 'a text', signal)
  const stop = () => stream.destroy(signal?.reason as Error)
  signal?.addEventListener('abort', stop)
  if (signal?.aborted) stop()
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength
      if (bytes > maxFileBytes) throw new Error(`${inputName(file)} is too long for a document`)
      chunks.push(chunk)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
  }
  return Buffer.concat(chunks)
}

/** The store checks each of them. */
async function readTriples(file: string): Promise<readonly Triple[]> {
  const value = await readJsonInput(file, 'triples')
  if (Array.isArray(value)) return value as readonly Triple[]
  throw new Error(`${inputName(file)} is no array of triples`)
}

function dublinCoreOf(id: string, flags: DocumentFlags): Triple[] {
  return dublinCore.flatMap((name) =>
    (flags[name] ?? []).map((value) => ({
      s: { v: id, e: true },
      p: { v: `http://purl.org/dc/terms/${name}`, e: true },
      o: { v: value, e: false },
    })),
  )
}
