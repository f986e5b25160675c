// The files that the inspector's page is made of, as scripts/inspector.js has left them in `page/` beside this module,
// or beside what it is packed into.

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'

export interface PageFile {
  readonly type: string
  /** Of its bytes: a version as entity tags have it. */
  readonly version: string
  readonly bytes: Buffer
  readonly brotli: Buffer
}

/** By name. A few hundred kB, all of which a page that is looked at asks for. */
export type PageFiles = ReadonlyMap<string, PageFile>

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
}

/**
 * Reads them when one is first asked for: most processes never are. What failed is tried again.
 *
 * @throws Error where they are not there: what was bundled has left them behind
 */
export function openPage(folder = new URL('./page/', import.meta.url)): () => Promise<PageFiles> {
  let read: Promise<PageFiles> | undefined
  return () =>
    (read ??= readPageFiles(folder).catch((error: unknown) => {
      read = undefined
      throw error
    }))
}

/** @throws Error where some of the files were left behind */
export function pageIn(files: PageFiles, isOpen: boolean): PageFile {
  const name = isOpen ? 'open.html' : 'page.html'
  const page = files.get(name)
  if (page === undefined) throw new Error(`the inspector has no ${name} among its files`)
  return page
}

async function readPageFiles(folder: URL): Promise<PageFiles> {
  const names = await readdir(folder).catch((cause: unknown) => {
    const advice = "a bundle needs the package's folder `page` beside it: docs/bundlers.md"
    throw new Error(`the inspector's page is not at ${folder.pathname}: ${advice}`, { cause })
  })
  const plain = names.filter((name) => !name.endsWith('.br'))
  const files = await Promise.all(
    plain.map(async (name): Promise<[string, PageFile]> => {
      const [bytes, brotli] = await Promise.all([
        readFile(new URL(name, folder)),
        readFile(new URL(`${name}.br`, folder)),
      ])
      const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
      const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
      return [name, { type, version, bytes, brotli }]
    }),
  )
  return new Map(files)
}
