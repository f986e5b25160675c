// Packages that read files, optional peers: imported when a file needs them.

import { PackageMissing } from './unreadable.js'

export async function peer<Package>(
  load: () => Promise<Package>,
  { name, version, files }: { name: string; version: number; files: string },
): Promise<Package> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const message = `${files} needs ${name}: npm install ${name}@${version}`
    throw new PackageMissing(name, message, { cause })
  }
}
