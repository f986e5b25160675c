// Content codings (RFC 9110, section 8.4.1): those that Node has, the best first.

import zlib from 'node:zlib'
import type { Transform } from 'node:stream'

export interface Coding {
  readonly name: string
  /** Another name of it (section 8.4.1.3). */
  readonly alias?: string
  /** Undefined where answers never have it. */
  readonly encode?: Encode
  readonly createDecoder: () => Decoder
}

export interface Encode {
  readonly whole: (body: Uint8Array) => Promise<Uint8Array>
  readonly createEncoder: () => Encoder
}

/** `flush()` lets out what was written until then. */
export type Encoder = Transform & { flush(): void }

/** `bytesWritten` are those of what it was given that belong to what it decodes. */
export type Decoder = Transform & { readonly bytesWritten: number }

type WholeEncoder = (
  body: Uint8Array,
  options: object,
  callback: (error: Error | null, encoded: Uint8Array) => void,
) => void

function encodeBy(
  whole: WholeEncoder,
  create: (options: object) => unknown,
  options: object,
): Encode {
  return {
    whole: (body) =>
      new Promise((resolve, reject) => {
        whole(body, options, (error, encoded) =>
          error === null ? resolve(encoded) : reject(error),
        )
      }),
    createEncoder: () => create(options) as Encoder,
  }
}

/** Of Node 22.15 and later; the types are those of the oldest Node there may be. */
const ofNewerNodes = zlib as unknown as {
  readonly zstdCompress?: WholeEncoder
  readonly createZstdCompress: (options: object) => Transform
  readonly createZstdDecompress: (options: object) => Decoder
  readonly constants: Readonly<Record<string, number>>
}

// Many answers are encoded at once, on the threads that storage uses, too: settings that need little time, and
// windows of 512 KiB. Measured on 18 kB of objects: gzip 110 us and 4.5 times as small, br 145 us and 4.5
// times; at their own defaults 140 us and 4.9 times, and 18 ms and 5.6 times.
const gzip = encodeBy(zlib.gzip, zlib.createGzip, { level: 4 })
const br = encodeBy(zlib.brotliCompress, zlib.createBrotliCompress, {
  params: {
    [zlib.constants.BROTLI_PARAM_QUALITY]: 4,
    [zlib.constants.BROTLI_PARAM_LGWIN]: 19,
  },
})

function zstd(): Coding | undefined {
  const { zstdCompress, createZstdCompress, createZstdDecompress, constants } = ofNewerNodes
  if (zstdCompress === undefined) return undefined
  const { ZSTD_c_compressionLevel: level = 0, ZSTD_c_windowLog: window = 0 } = constants
  const { ZSTD_d_windowLogMax: most = 0 } = constants
  return {
    name: 'zstd',
    encode: encodeBy(zstdCompress, createZstdCompress, { params: { [level]: 3, [window]: 19 } }),
    // RFC 9659: who decodes need not take more than 8 MiB for it. The library would take 128.
    createDecoder: () => createZstdDecompress({ params: { [most]: 23 } }),
  }
}

export const codings: readonly Coding[] = [
  ...[zstd()].flatMap((coding) => coding ?? []),
  { name: 'br', encode: br, createDecoder: () => zlib.createBrotliDecompress() },
  { name: 'gzip', alias: 'x-gzip', encode: gzip, createDecoder: () => zlib.createGunzip() },
  { name: 'deflate', createDecoder: () => zlib.createInflate() },
]

/** That of a name as a header has it. */
export function codingNamed(name: string): Coding | undefined {
  return codings.find((coding) => coding.name === name || coding.alias === name)
}

/** What a request may have its body in. */
export const codingsOfBodies = codings.map(({ name }) => name).join(', ')
