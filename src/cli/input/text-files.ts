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
  /** Undefined where no directory was named. */
  readonly passedOver: number | undefined
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
  let passedOver: number | undefined
  for (const name of named) {
    if (name === '-' || !(await isDirectory(name))) {
      files.push({ file: name, id: pathToFileURL(resolve(name)).href })
      continue
    }
    const before = files.length
    passedOver ??= 0
    // With the directory's name: two of them may well have a README each.
    passedOver += await walk(name, basename(resolve(name)), extensions, files)
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

/** How many were passed over. */
async function walk(
  directory: string,
  id: string,
  extensions: readonly string[],
  files: TextFile[],
): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    throw fileError(error, directory, 'read')
  })
  // By code units: the same order whatever the locale and the file system.
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  let passedOver = 0
  for (const entry of entries) {
    const { name } = entry
    const path = join(directory, name)
    const isHidden = name.startsWith('.')
    if (entry.isDirectory() && !isHidden) {
      passedOver += await walk(path, `${id}/${name}`, extensions, files)
    } else if (entry.isFile() && !isHidden && extensions.includes(extname(name).toLowerCase())) {
      files.push({ file: path, id: `${id}/${name}` })
    } else passedOver++
  }
  return passedOver
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
