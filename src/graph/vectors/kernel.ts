// Arithmetic on vectors, in WebAssembly: it has instructions on four numbers at once, and JavaScript
// has not. The source is kernel.wat.

import { kernelBytes } from './kernel-bytes.js'

/** Numbers are addresses in the kernel's memory, but for counts and dimensions. See kernel.wat. */
export interface Kernel {
  readonly memory: KernelMemory
  dots(query: number, vectors: number, count: number, dimensions: number, out: number): void
  /** The following are for walks, whose frames are Walk's. */
  compare(frame: number, count: number): void
  follow(frame: number, level: number): void
  restart(frame: number, visitBytes: number, width: number): void
  meet(frame: number, number: number): void
  widen(frame: number, number: number, out: number): number
  choose(
    frame: number,
    pairs: number,
    size: number,
    keep: number,
    out: number,
    addresses: number,
    wide: number,
  ): number
  cosine(a: number, b: number, dimensions: number): number
}

interface KernelMemory {
  /** Another one after each grow(). */
  readonly buffer: ArrayBuffer
  /** @throws RangeError where there is no room */
  grow(pages: number): number
}

export const pageBytes = 65_536
/** The most that addresses of 32 bits reach. */
export const maxKernelBytes = 65_536 * pageBytes

// The compiler's own types have it beside those of browsers alone.
declare const WebAssembly: {
  Memory: new (limits: { initial: number; maximum: number }) => KernelMemory
  Module: new (bytes: Uint8Array) => object
  Instance: new (
    module: object,
    imports: { lorekeep: { memory: KernelMemory } },
  ) => { readonly exports: Omit<Kernel, 'memory'> }
}

let compiled: object | undefined

/** A kernel with a memory of its own, which may grow to `maxBytes`. */
export function createKernel(bytes: number, maxBytes: number): Kernel {
  const memory = new WebAssembly.Memory({
    initial: Math.ceil(bytes / pageBytes),
    maximum: Math.ceil(maxBytes / pageBytes),
  })
  compiled ??= new WebAssembly.Module(Buffer.from(kernelBytes, 'base64'))
  const { exports } = new WebAssembly.Instance(compiled, { lorekeep: { memory } })
  return { memory, ...exports }
}
