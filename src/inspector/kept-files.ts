// Files of the page's own, on the disk, that downloads go by.

const prefix = 'lorekeep '

/** The browser copies what it is handed, and tells nobody when it has. */
export const copiedMs = 60 * 60_000

/** Most have it long before, and who leaves wants nothing to stay. */
export const copiedAtLastMs = 5 * 60_000

interface KeptFile {
  readonly handle: FileSystemFileHandle
  readonly remove: () => Promise<void>
}

/** @throws DOMException where the browser has no such files, or not for this page */
export async function createKeptFile(name: string): Promise<KeptFile> {
  await sweep(copiedMs)
  const folder = await navigator.storage.getDirectory()
  const kept = `${prefix}${Date.now()} ${name}`
  const handle = await folder.getFileHandle(kept, { create: true })
  return { handle, remove: () => folder.removeEntry(kept) }
}

/** Removes what was last written so long ago. What somebody writes stays, and is no error. */
export async function sweep(ageMs: number): Promise<void> {
  // Pages of plain `http:` have none.
  if (!('storage' in navigator)) return
  try {
    const folder = await navigator.storage.getDirectory()
    for (const [name, handle] of await Array.fromAsync(folder.entries())) {
      if (!name.startsWith(prefix) || handle.kind !== 'file') continue
      const { lastModified } = await (handle as FileSystemFileHandle).getFile()
      // Another tab may write it, or be faster.
      if (lastModified < Date.now() - ageMs) await folder.removeEntry(name).catch(() => undefined)
    }
  } catch {
    // Private windows may have no such folder.
  }
}
