// The texts that `load` is given: files, and those of directories.

import { readdir, stat } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fileError } from '../output/failure.js'

export interface TextFile {
  readonly file: string
  /** What its document is called unless somebody says otherwise. */
  readonly id: string
}

export interface TextFiles {
  readonly files: readonly TextFile[]
  /** Files that end otherwise, and how many things there are that are no files to load; undefined where no directory was named. */
  readonly passedOver: PassedOver | undefined
}

export interface PassedOver {
  readonly files: string[]
  /** Links, and what is hidden. */
  others: number
}

/**
 * Files as they were named, and in place of a directory its files with one of the extensions, by their
 * paths. Links are not followed, lest they lead out of it, and hidden names are passed over.
 */
export async function textFiles(
  named: readonly string[],
  extensions: readonly string[],
): Promise<TextFiles> {
  const files: TextFile[] = []
  let passedOver: PassedOver | undefined
  for (const name of named) {
    if (name === '-' || !(await isDirectory(name))) {
      files.push({ file: name, id: pathToFileURL(resolve(name)).href })
      continue
    }
    const before = files.length
    passedOver ??= { files: [], others: 0 }
    // With the directory's name: two of them may well have a README each.
    await walk(name, basename(resolve(name)), extensions, { files, passedOver })
    if (files.length > before) continue
    throw new Error(`no file in '${name}' ends in ${extensions.join(' or ')} (--ext names others)`)
  }
  refuseTwins(files)
  return { files, passedOver }
}

async function isDirectory(name: string): Promise<boolean> {
  try {
    return (await stat(name)).isDirectory()
  } catch {
    // Whoever opens it says what is wrong.
    return false
  }
}

async function walk(
  directory: string,
  id: string,
  extensions: readonly string[],
  found: { readonly files: TextFile[]; readonly passedOver: PassedOver },
): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    throw fileError(error, directory, 'read')
  })
  // By code units: the same order whatever the locale and the file system.
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  const { files, passedOver } = found
  for (const entry of entries) {
    const { name } = entry
    const path = join(directory, name)
    const isHidden = name.startsWith('.')
    if (entry.isDirectory() && !isHidden) {
      await walk(path, `${id}/${name}`, extensions, found)
    } else if (!entry.isFile() || isHidden) passedOver.others++
    else if (!extensions.includes(extname(name).toLowerCase())) passedOver.files.push(path)
    else files.push({ file: path, id: `${id}/${name}` })
  }
}

/** The second would take the place of the first. */
function refuseTwins(files: readonly TextFile[]): void {
  const byId = new Map<string, string>()
  for (const { file, id } of files) {
    const other = byId.get(id)
    if (other !== undefined && resolve(other) !== resolve(file)) {
      throw new Error(
        `'${other}' and '${file}' would both be the document '${id}': load them apart`,
      )
    }
    byId.set(id, file)
  }
}
