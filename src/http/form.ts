// Forms with a file (multipart/form-data, RFC 7578), as browsers and `curl -F` send them.

import { isUtf8 } from 'node:buffer'
import { LorekeepError } from '../errors.js'
import { Problems } from '../door/problems.js'
import { Turns } from '../turns.js'

export interface Form {
  readonly fields: ReadonlyMap<string, string>
  readonly file: {
    /** A view of the body. */
    readonly bytes: Uint8Array
    /** Empty where the form says none, as its type. */
    readonly name: string
    readonly type: string
  }
}

interface FormOptions {
  readonly known: readonly string[]
  readonly maxFileBytes: number
}

/** The size of a form without its file. */
export const maxFieldBytes = 1024 ** 2
// Node's own parser takes ten seconds for a form of nothing but heads, or of a million parts.
const maxParts = 32
const maxHeadBytes = 8192
/** Lines of a file that begin as its boundary does. Whoever chooses one sees to it that there are none. */
const maxLikenesses = 1000
const stepBytes = 1024 ** 2

export function isForm(type: string | undefined): boolean {
  return /^\s*multipart\/form-data\s*(?:;|$)/i.test(type ?? '')
}

/**
 * Its one file, and its fields: those that are known, once each.
 * @throws LorekeepError `LK_HTTP_REQUEST` with `details.errors`, `LK_HTTP_TOO_LARGE`
 */
export async function readForm(
  body: Buffer,
  type: string,
  { known, maxFileBytes }: FormOptions,
): Promise<Form> {
  const problems = new Problems()
  const fields = new Map<string, string>()
  const files: Part[] = []
  let fieldBytes = 0
  for await (const part of partsOf(body, type)) {
    const { name, content } = part
    if (part.fileName !== undefined) {
      files.push(part)
      continue
    }
    fieldBytes += content.byteLength
    if (!known.includes(name)) problems.unknown({ [name]: content }, known)
    else if (fields.has(name)) problems.fail(name, 'is given twice')
    else if (!isUtf8(content)) problems.fail(name, 'is not UTF-8')
    else fields.set(name, content.toString('utf8'))
  }
  if (fieldBytes > maxFieldBytes) throw tooLarge('the fields have', { maxFieldBytes })
  const [file] = files
  if (files.length !== 1) problems.fail('file', `must be there, one, not ${files.length}`)
  problems.throwIfAny('LK_HTTP_REQUEST')
  const { content: bytes, fileName: name = '', type: media } = file as Part
  if (bytes.byteLength > maxFileBytes) throw tooLarge('the file has', { maxFileBytes })
  return { fields, file: { bytes, name, type: media } }
}

interface Part {
  readonly name: string
  /** There is one where it is a file, maybe empty. */
  readonly fileName: string | undefined
  readonly type: string
  readonly content: Buffer
}

/** Each byte is looked at once: what is no beginning of a part is content. */
async function* partsOf(body: Buffer, type: string): AsyncGenerator<Part, void, undefined> {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type) ?? []
  const boundary = quoted ?? bare
  if (boundary === undefined) throw noForm('its Content-Type has no boundary')
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const isFirst = body.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2))
  const ends = new Ends(body, delimiter)
  let at = isFirst ? delimiter.length - 2 : await ends.behind(0)
  for (let count = 0; ; count++) {
    if (at < 0) throw noForm('a boundary is missing: it may have been cut')
    if (body.toString('latin1', at, at + 2) === '--') return
    if (count === maxParts) throw noForm(`it has more than ${maxParts} parts`)
    const line = body.subarray(at, at + maxHeadBytes).indexOf('\r\n')
    const end = body.subarray(at, at + maxHeadBytes).indexOf('\r\n\r\n')
    if (line < 0 || end < 0) throw noForm(`the head of part ${count + 1} does not end`)
    const head = body.subarray(at + line + 2, at + end)
    if (!isUtf8(head)) throw noForm(`the head of part ${count + 1} is not UTF-8`)
    const start = at + end + 4
    at = await ends.behind(start - 2)
    const content = body.subarray(start, Math.max(start, at - delimiter.length))
    if (at >= 0) yield { ...headOf(head.toString(), count), content }
  }
}

/** Where a delimiter ends. */
class Ends {
  readonly #body: Buffer
  readonly #delimiter: Buffer
  readonly #turns = new Turns(undefined)

  constructor(body: Buffer, delimiter: Buffer) {
    this.#body = body
    this.#delimiter = delimiter
  }

  /** The next one; -1 where there is none. */
  async behind(from: number): Promise<number> {
    for (let [at, count] = [from, 0]; ; count++) {
      // 33 MiB of nothing else took two seconds.
      if (count > maxLikenesses) throw noForm('too many of its lines begin as its boundary does')
      const end = await this.#next(at)
      if (end < 0) return -1
      // A longer line that begins so is content.
      const next = this.#body.toString('latin1', end, end + 2)
      if (next === '--' || next === '\r\n' || /^[ \t]/.test(next)) return end
      at = end
    }
  }

  /** In steps: 33 MiB of line ends alone, which a short delimiter is looked for in at each, take 0.2 s. */
  async #next(from: number): Promise<number> {
    const { length } = this.#delimiter
    for (let at = from; at < this.#body.length; at += stepBytes) {
      const found = this.#body.subarray(at, at + stepBytes + length - 1).indexOf(this.#delimiter)
      if (found >= 0) return at + found + length
      await this.#turns.pass()
    }
    return -1
  }
}

function headOf(head: string, count: number): Omit<Part, 'content'> {
  const lines = head.split('\r\n')
  const valueOf = (name: string) =>
    lines.find((line) => line.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1)
  const disposition = valueOf('content-disposition') ?? ''
  const name = parameterOf(disposition, 'name')
  if (name === undefined) throw noForm(`part ${count + 1} has no name`)
  const fileName = parameterOf(disposition, 'filename')
  return { name, fileName, type: valueOf('content-type')?.trim() ?? '' }
}

const parameters = /;\s*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))/g

/**
 * The first of the name, in no value of another. Browsers write a quotation mark as `%22`, and curl as `\"`; .NET puts
 * no marks around a word.
 */
function parameterOf(disposition: string, wanted: string): string | undefined {
  for (const [, name, quoted, bare] of disposition.matchAll(parameters)) {
    if (name?.toLowerCase() !== wanted) continue
    return (
      bare ??
      quoted
        ?.replace(/\\(["\\])/g, '$1')
        .replace(/%(22|0A|0D)/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    )
  }
  return undefined
}

function noForm(reason: string): LorekeepError {
  const detail = `the body is no form (multipart/form-data): ${reason}`
  return new LorekeepError('LK_HTTP_REQUEST', detail)
}

function tooLarge(what: string, details: Readonly<Record<string, number>>): LorekeepError {
  const [most] = Object.values(details)
  return new LorekeepError('LK_HTTP_TOO_LARGE', `${what} more than ${most} bytes`, { details })
}
