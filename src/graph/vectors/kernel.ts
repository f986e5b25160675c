// Arithmetic on vectors, in WebAssembly: it has instructions on four numbers at once, and JavaScript
// has not. The source is kernel.wat.

import { createMemory, instances, type WebAssemblyMemory } from '../../web-assembly.js'
import { kernelBytes } from './kernel-bytes.js'

/** Numbers are addresses in the kernel's memory, but for counts and dimensions. See kernel.wat. */
export interface Kernel {
  readonly memory: WebAssemblyMemory
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

const instance = instances<Omit<Kernel, 'memory'>>(kernelBytes, 'lorekeep')

/** A kernel with a memory of its own, which may grow to `maxBytes`. */
export function createKernel(bytes: number, maxBytes: number): Kernel {
  const memory = createMemory(bytes, maxBytes)
  return { memory, ...instance(memory) }
}
