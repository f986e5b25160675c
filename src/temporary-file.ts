import { randomBytes } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Has no name from its first moment on, where the system can do that: a crash leaves nothing. */
export class TemporaryFile {
  readonly #handle: FileHandle
  readonly #path: string | undefined

  private constructor(handle: FileHandle, path: string | undefined) {
    this.#handle = handle
    this.#path = path
  }

  /** `what` is in it. */
  static async create(what: string): Promise<TemporaryFile> {
    const path = join(tmpdir(), `lorekeep-${what}-${randomBytes(9).toString('hex')}`)
    const handle = await open(path, 'wx+', 0o600)
    // Windows keeps the name of an open file.
    const isNamed = await unlink(path).then(
      () => false,
      () => true,
    )
    return new TemporaryFile(handle, isNamed ? path : undefined)
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const left = bytes.length - at
      const { bytesWritten } = await this.#handle.write(bytes, at, left, position + at)
      if (bytesWritten === 0) throw new Error('nothing was written')
      at += bytesWritten
    }
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length)
    for (let at = 0; at < length;) {
      const { bytesRead } = await this.#handle.read(bytes, at, length - at, position + at)
      if (bytesRead === 0) throw new Error('a temporary file is shorter than what was written')
      at += bytesRead
    }
    return bytes
  }

  async close(): Promise<void> {
    await this.#handle.close()
    if (this.#path !== undefined) await unlink(this.#path).catch(() => {})
  }
}
