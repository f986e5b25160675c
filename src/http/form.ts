// Forms with a file (multipart/form-data), as browsers and `curl -F` send them.

import { LorekeepError } from '../errors.js'
import { Problems } from '../door/problems.js'

export interface Form {
  readonly fields: ReadonlyMap<string, string>
  readonly file: { readonly bytes: Uint8Array; readonly name: string; readonly type: string }
}

/** The size of a form without its file. */
export const maxFieldBytes = 1024 ** 2

export function isForm(type: string | undefined): boolean {
  return /^\s*multipart\/form-data\s*(?:;|$)/i.test(type ?? '')
}

/**
 * Its one file, and its fields: those that are known, once each. Node's own parser reads it, of bytes that
 * have come as a whole.
 * @throws LorekeepError `LK_HTTP_REQUEST` with `details.errors`, `LK_HTTP_TOO_LARGE`
 */
export async function readForm(
  body: Uint8Array,
  type: string,
  { known, maxFileBytes }: { readonly known: readonly string[]; readonly maxFileBytes: number },
): Promise<Form> {
  const data = await parse(body, type)
  let fieldBytes = 0
  const problems = new Problems()
  const fields = new Map<string, string>()
  const files: File[] = []
  for (const [name, value] of data) {
    if (typeof value !== 'string') files.push(value)
    else if (!known.includes(name)) problems.unknown({ [name]: value }, known)
    else if (fields.has(name)) problems.fail(name, 'is given twice')
    else fields.set(name, value)
    if (typeof value === 'string') fieldBytes += Buffer.byteLength(value)
  }
  if (fieldBytes > maxFieldBytes) throw tooLarge('the fields have', { maxFieldBytes })
  const [file] = files
  if (files.length !== 1 || file === undefined) {
    problems.fail('file', `a form has one file, not ${files.length}`)
  }
  problems.throwIfAny('LK_HTTP_REQUEST')
  const { name, type: media, size } = file as File
  if (size > maxFileBytes) throw tooLarge('the file has', { maxFileBytes })
  const bytes = new Uint8Array(await (file as File).arrayBuffer())
  return { fields, file: { bytes, name, type: media } }
}

async function parse(body: Uint8Array, type: string): Promise<FormData> {
  try {
    return await new Response(body as Uint8Array<ArrayBuffer>, {
      headers: { 'Content-Type': type },
    }).formData()
  } catch (cause) {
    throw new LorekeepError('LK_HTTP_REQUEST', 'the body is no form (multipart/form-data)', {
      cause,
    })
  }
}

function tooLarge(what: string, details: Readonly<Record<string, number>>): LorekeepError {
  const [most] = Object.values(details)
  return new LorekeepError('LK_HTTP_TOO_LARGE', `${what} more than ${most} bytes`, { details })
}
