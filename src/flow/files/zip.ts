// ZIP archives: the members that documents are made of (PKWARE's APPNOTE 6.3, without ZIP64, encryption
// and several disks, which none of them has).

import { inflateRawSync } from 'node:zlib'
import { memoryMessage } from './buffers.js'
import { Unreadable } from './unreadable.js'

export interface ZipMember {
  readonly name: string
  readonly method: number
  readonly isEncrypted: boolean
  /** Of its compressed bytes. */
  readonly bytes: number
  /** Of its local header. */
  readonly at: number
}

const endSignature = 0x06054b50
const entrySignature = 0x02014b50
const localSignature = 0x04034b50
const maxComment = 65535
const maxMembers = 20_000

/** @throws Unreadable where that is no archive, or its end is missing */
export function zipMembers(bytes: Uint8Array): readonly ZipMember[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = endOf(view)
  if (end < 0) throw damaged('its directory is missing: it may have been cut')
  const count = view.readUInt16LE(end + 10)
  let at = view.readUInt32LE(end + 16)
  if (count > maxMembers) throw damaged(`it has ${count} members`)
  const members: ZipMember[] = []
  for (let n = 0; n < count; n++) {
    if (at + 46 > view.length || view.readUInt32LE(at) !== entrySignature) {
      throw damaged('its directory is broken')
    }
    const [nameLength, extra, comment] = [28, 30, 32].map((each) => view.readUInt16LE(at + each))
    members.push({
      name: view.toString('utf8', at + 46, at + 46 + (nameLength as number)),
      method: view.readUInt16LE(at + 10),
      isEncrypted: (view.readUInt16LE(at + 8) & 1) === 1,
      bytes: view.readUInt32LE(at + 20),
      at: view.readUInt32LE(at + 42),
    })
    at += 46 + (nameLength as number) + (extra as number) + (comment as number)
  }
  return members
}

function endOf(view: Buffer): number {
  for (let at = view.length - 22; at >= Math.max(0, view.length - 22 - maxComment); at--) {
    if (view.readUInt32LE(at) === endSignature) return at
  }
  return -1
}

/** Members of an archive, of which all together become `maxBytes` at most. */
export class ZipReader {
  readonly #members = new Map<string, ZipMember>()
  readonly #bytes: Buffer
  readonly #maxBytes: number
  #left: number

  constructor(bytes: Uint8Array, maxBytes: number) {
    for (const member of zipMembers(bytes)) {
      if (!this.#members.has(member.name)) this.#members.set(member.name, member)
    }
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#maxBytes = maxBytes
    this.#left = maxBytes
  }

  has(name: string): boolean {
    return this.#members.has(name)
  }

  text(name: string): string | undefined {
    const bytes = this.read(name)
    if (bytes === undefined) return undefined
    const [first, second] = bytes
    const isLittle = first === 0xff && second === 0xfe
    const isBig = first === 0xfe && second === 0xff
    return new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8').decode(bytes)
  }

  /** `undefined` where there is none of that name. @throws Unreadable */
  read(name: string): Uint8Array | undefined {
    const member = this.#members.get(name)
    return member && this.#inflate(member)
  }

  #inflate({ name, method, isEncrypted, bytes, at }: ZipMember): Uint8Array {
    if (isEncrypted) throw new Unreadable('encrypted', 'it is encrypted: it needs a password')
    const view = this.#bytes
    if (at + 30 > view.length || view.readUInt32LE(at) !== localSignature) {
      throw damaged(`'${name}' is not where the directory says`)
    }
    const start = at + 30 + view.readUInt16LE(at + 26) + view.readUInt16LE(at + 28)
    if (start + bytes > view.length) throw damaged(`'${name}' is cut`)
    const raw = view.subarray(start, start + bytes)
    const inflated = method === 0 ? raw : this.#inflated(name, method, raw)
    this.#left -= inflated.byteLength
    if (this.#left < 0) throw this.#tooMuch()
    return inflated
  }

  #inflated(name: string, method: number, raw: Uint8Array): Uint8Array {
    if (method !== 8) throw damaged(`'${name}' is compressed by method ${method}`)
    try {
      return inflateRawSync(raw, { maxOutputLength: Math.max(this.#left, 1) })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw this.#tooMuch()
      throw damaged(`'${name}': ${(error as Error).message}`)
    }
  }

  #tooMuch(): Unreadable {
    return new Unreadable('memory', memoryMessage((this.#maxBytes * 4) / 1024 ** 2))
  }
}

function damaged(reason: string): Unreadable {
  return new Unreadable('damaged', `it is a damaged archive: ${reason}`)
}

/** Of a thread's memory, what archives may become: their parsers make more of it. */
export function zipShare(memoryMb: number): number {
  return (memoryMb * 1024 ** 2) / 4
}
