// What is used of WebAssembly: the compiler's own types have it beside those of browsers alone.

export interface WebAssemblyMemory<Bytes extends ArrayBufferLike = ArrayBuffer> {
  /** Another one after each grow(). */
  readonly buffer: Bytes
  /** @throws RangeError where there is no room */
  grow(pages: number): number
}

export const pageBytes = 65_536
/** The most that addresses of 32 bits reach. */
export const maxMemoryBytes = 65_536 * pageBytes

declare const WebAssembly: {
  Memory: new <Bytes extends ArrayBufferLike>(limits: {
    initial: number
    maximum: number
    shared: boolean
  }) => WebAssemblyMemory<Bytes>
  Module: new (bytes: Uint8Array) => object
  Instance: new (
    module: object,
    imports: Readonly<Record<string, { readonly memory: WebAssemblyMemory<ArrayBufferLike> }>>,
  ) => { readonly exports: object }
}

export function createMemory(bytes: number, maxBytes: number): WebAssemblyMemory {
  return create(bytes, maxBytes, false)
}

/**
 * What other threads could see, too. It grows without detaching a buffer: once any was, V8 checks at each access to any
 * typed array of the thread whether that is.
 */
export function createSharedMemory(bytes: number): WebAssemblyMemory<SharedArrayBuffer> {
  return create(bytes, maxMemoryBytes, true)
}

function create<Bytes extends ArrayBufferLike>(
  bytes: number,
  maxBytes: number,
  shared: boolean,
): WebAssemblyMemory<Bytes> {
  return new WebAssembly.Memory({
    initial: Math.ceil(bytes / pageBytes),
    maximum: Math.ceil(maxBytes / pageBytes),
    shared,
  })
}

/** Instances of one module, which is compiled once, each over a memory that it imports from `importedFrom`. */
export function instances<Exports>(
  base64: string,
  importedFrom: string,
): (memory: WebAssemblyMemory<ArrayBufferLike>) => Exports {
  let compiled: object | undefined
  return (memory) => {
    compiled ??= new WebAssembly.Module(Buffer.from(base64, 'base64'))
    const { exports } = new WebAssembly.Instance(compiled, { [importedFrom]: { memory } })
    return exports as Exports
  }
}
