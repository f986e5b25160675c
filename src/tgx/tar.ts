// Members of a tar archive, one after the other: ustar, pax and GNU's long names, as Python's tarfile
// and GNU tar write them. Names are data: nothing here, or behind, makes a path of one.

import { ByteReader } from './byte-reader.js'
import { damaged, tooLarge, unreadable } from './faults.js'
import type { WorkspaceLimits } from './types.js'

export interface TarMember {
  readonly name: string
  /** `other`: links, devices and what is not known. */
  readonly type: 'file' | 'directory' | 'other'
  readonly size: number
  /** To be read once, before the next member is asked for; what is not read is passed over. */
  readonly content: AsyncIterable<Uint8Array>
}

/** What headers say of the member behind them. */
interface Extended {
  readonly path?: string | undefined
  readonly size?: number | undefined
}

const blockBytes = 512
/** Of a header that says a long name, and whatever else others put there. */
const maxExtendedBytes = 1024 * 1024
const zeros = Buffer.alloc(64 * 1024)

/** @throws LorekeepError `LK_WORKSPACE_*`, with the place */
export async function* readTar(
  source: AsyncIterable<Uint8Array>,
  { maxMembers }: Pick<WorkspaceLimits, 'maxMembers'>,
): AsyncGenerator<TarMember, void, undefined> {
  const bytes = new ByteReader(source)
  let global: Extended = {}
  let next: Extended = {}
  let headers = 0
  try {
    for (;;) {
      const byteOffset = bytes.offset
      const header = await bytes.take(blockBytes)
      if (header.length < blockBytes) throw endless(byteOffset)
      if (isZero(header)) break
      checkSum(header, byteOffset)
      // Each header counts, also one that comes before another.
      if (++headers > maxMembers) {
        throw tooLarge(`it has more than ${maxMembers} members (maxMembers)`, { maxMembers })
      }
      const type = String.fromCharCode(header[156] ?? 0)
      const size = numberIn(header, 124, 12, byteOffset)

      if (type === 'x' || type === 'g' || type === 'L' || type === 'K') {
        if (size > maxExtendedBytes) {
          const reason = `a header has ${size} bytes, more than ${maxExtendedBytes}`
          throw tooLarge(reason, { byteOffset, maxExtendedBytes })
        }
        const text = await exactly(bytes, size)
        await exactly(bytes, paddingOf(size))
        if (type === 'L') next = { ...next, path: textIn(text, 0, size) }
        else if (type === 'x') next = { ...next, ...extendedBy(text, byteOffset) }
        else if (type === 'g') global = { ...global, ...extendedBy(text, byteOffset) }
        continue
      }

      const said = { ...global, ...next }
      next = {}
      const name = said.path ?? nameIn(header)
      if (type === 'S') throw unreadable('a sparse file can not be read', { member: name })
      const kind = kindOf(type, name)
      // Links and devices have none, whatever they say.
      const isBare = kind === 'other' && /[1-6]/.test(type)
      let left = isBare || kind === 'directory' ? 0 : (said.size ?? size)
      const padding = paddingOf(left)
      const read = async () => {
        const piece = await bytes.upTo(left)
        if (piece === undefined) {
          const reason = 'the archive ends in the middle of it: it was cut'
          throw damaged(reason, { member: name, byteOffset: bytes.offset })
        }
        left -= piece.length
        return piece
      }
      const content = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
        while (left > 0) yield await read()
      }
      yield { name, type: kind, size: left, content: content() }
      while (left > 0) await read()
      await exactly(bytes, padding)
    }
    for (;;) {
      const byteOffset = bytes.offset
      const piece = await bytes.upTo(zeros.length)
      if (piece === undefined) return
      if (!isZero(piece)) throw unreadable('something stands behind its end', { byteOffset })
    }
  } finally {
    await bytes.close()
  }
}

function endless(byteOffset: number): Error {
  if (byteOffset === 0) return unreadable('there is no tar archive in it')
  return damaged('the archive ends without its end mark: it was cut', { byteOffset })
}

async function exactly(bytes: ByteReader, length: number): Promise<Buffer> {
  const taken = await bytes.take(length)
  if (taken.length < length) throw endless(bytes.offset)
  return taken
}

function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes
}

function isZero(bytes: Uint8Array): boolean {
  return zeros.subarray(0, bytes.length).equals(bytes)
}

/** Some have taken bytes for signed ones. */
function checkSum(header: Buffer, byteOffset: number): void {
  let [unsigned, signed] = [0, 0]
  for (const [at, value] of header.entries()) {
    const byte = at >= 148 && at < 156 ? 0x20 : value
    unsigned += byte
    signed += byte < 128 ? byte : byte - 256
  }
  const said = /^ *([0-7]+)$/.exec(textIn(header, 148, 8).trimEnd())?.[1]
  const sum = said === undefined ? NaN : Number.parseInt(said, 8)
  if (sum === unsigned || sum === signed) return
  if (byteOffset === 0) throw unreadable('what gzip has packed is no tar archive')
  throw damaged('the checksum of a header does not fit', { byteOffset })
}

/** In octal digits, or from 8 GiB on in binary, as GNU tar has it. */
function numberIn(header: Buffer, at: number, length: number, byteOffset: number): number {
  const field = header.subarray(at, at + length)
  let value: number
  if (field[0] === 0x80) value = Number(BigInt(`0x${field.subarray(1).toString('hex')}`))
  else {
    const digits = textIn(header, at, length).trim()
    value = /^[0-7]*$/.test(digits) ? Number.parseInt(`0${digits}`, 8) : NaN
  }
  if (Number.isSafeInteger(value)) return value
  throw damaged('a header has a size that is none', { byteOffset })
}

function nameIn(header: Buffer): string {
  const name = textIn(header, 0, 100)
  // GNU's own format, whose magic goes on with a space, has other things there.
  const isUstar = header.toString('latin1', 257, 263) === 'ustar\0'
  const prefix = isUstar ? textIn(header, 345, 155) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

function textIn(bytes: Buffer, at: number, length: number): string {
  const field = bytes.subarray(at, at + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? field.length : end)
}

function kindOf(type: string, name: string): TarMember['type'] {
  if (type === '5') return 'directory'
  if (type !== '0' && type !== '\0' && type !== '7') return 'other'
  // In archives of before 1988 a directory is a file by that name.
  return type === '\0' && name.endsWith('/') ? 'directory' : 'file'
}

/** Records such as `20 path=a/long/name` and a line feed, 20 being the bytes of all of it. */
function extendedBy(text: Buffer, byteOffset: number): Extended {
  const said: { path?: string; size?: number } = {}
  for (let at = 0; at < text.length;) {
    const space = text.indexOf(0x20, at)
    const digits = text.toString('latin1', at, Math.max(space, at))
    const length = /^[1-9]\d{0,6}$/.test(digits) ? Number(digits) : NaN
    const end = at + length
    const equals = text.indexOf(0x3d, space)
    if (!(end <= text.length && text[end - 1] === 0x0a && equals > space && equals < end)) {
      throw damaged('an extended header can not be read', { byteOffset })
    }
    const key = text.toString('utf8', space + 1, equals)
    const value = text.toString('utf8', equals + 1, end - 1)
    if (key.startsWith('GNU.sparse.')) {
      throw unreadable('a sparse file can not be read', { byteOffset })
    }
    if (key === 'path') said.path = value
    if (key === 'size') {
      const size = /^\d+$/.test(value) ? Number(value) : NaN
      if (!Number.isSafeInteger(size)) {
        throw damaged('a header has a size that is none', { byteOffset })
      }
      said.size = size
    }
    at = end
  }
  return said
}
