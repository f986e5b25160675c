// Archives by hand, after POSIX's description of pax and ustar.

import { gzipSync } from 'node:zlib'

export interface MadeMember {
  readonly name: string
  readonly content?: string | Uint8Array
  /** `0` is a file. */
  readonly type?: string
  readonly prefix?: string
  /** With its version. `ustar\\0` and `00` by default. */
  readonly magic?: string
  /** What the header says, in place of its octal digits. */
  readonly size?: Uint8Array | string
  readonly isSigned?: boolean
  readonly isSumWrong?: boolean
}

export const file = (name: string, content: string | Uint8Array = ''): MadeMember => ({
  name,
  content,
})

/** A header and its content, filled up to whole blocks. */
export function block(member: MadeMember): Buffer {
  const { name, type = '0', prefix = '', magic = 'ustar\x0000' } = member
  const content = Buffer.from(member.content ?? '')
  const header = Buffer.alloc(512)
  header.write(name, 0, 100)
  header.write('0000644\0'.repeat(3), 100, 'latin1')
  const size = member.size ?? `${content.length.toString(8).padStart(11, '0')}\0`
  header.set(Buffer.from(size as string), 124)
  header.write('00000000000\0', 136, 'latin1')
  header.write(type, 156, 'latin1')
  header.write(magic, 257, 'latin1')
  header.write(prefix, 345, 155)
  header.write(' '.repeat(8), 148, 'latin1')
  const bytes = [...(member.isSigned === true ? new Int8Array(header) : header)]
  const sum = bytes.reduce((sum, byte) => sum + byte, member.isSumWrong === true ? 1 : 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)])
}

export function pax(records: Readonly<Record<string, string>>, type = 'x'): MadeMember {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = Buffer.byteLength(` ${key}=${value}\n`)
    let length = rest
    while (rest + String(length).length > length) length++
    return `${length} ${key}=${value}\n`
  })
  return { name: 'PaxHeader', type, content: lines.join('') }
}

export function tar(members: readonly MadeMember[], end = Buffer.alloc(1024)): Buffer {
  return Buffer.concat([...members.map(block), end])
}

// ── workspaces ───────────────────────────────────────────────────────────────

export const manifest = (more: object = {}): MadeMember =>
  file('manifest.json', JSON.stringify({ format: 'tgx', format_version: 1, ...more }))

const quoted = (name: string) => encodeURIComponent(name)

/** A collection; each triple is `object`, or `object graph`. */
export function collection(name: string, ...triples: readonly string[]): MadeMember {
  const graph = `<urn:trustgraph:collection:${quoted(name)}>`
  const lines = triples.map((said, n) => {
    const [object, own] = said.split(' ')
    return `<urn:s${n}> <urn:p> ${object} ${own ?? graph} .\n`
  })
  return file(`knowledge/${quoted(name)}/triples.nq`, lines.join(''))
}

export function document(
  id: string,
  content: string | Uint8Array,
  more: object = {},
): readonly [MadeMember, MadeMember] {
  const name = `knowledge/library/${quoted(id)}`
  const json = JSON.stringify({ id, kind: 'text/plain', ...more })
  return [file(`${name}.meta.json`, json), file(`${name}.content`, content)]
}

export function workspace(...members: readonly MadeMember[]): Buffer {
  const isSaid = members.some(({ name }) => name === 'manifest.json')
  return gzipSync(tar(isSaid ? members : [...members, manifest()]))
}

/** One chunk for each `size` bytes, all in the same buffer, as some sources have them. */
export async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.alloc(size)
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size)
    chunk.set(piece)
    yield chunk.subarray(0, piece.length)
  }
}
