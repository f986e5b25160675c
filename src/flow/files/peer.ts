// Packages that read files, optional peers: imported when a file needs them.

import { PackageBroken, PackageMissing } from './unreadable.js'

export async function peer<Package>(
  load: () => Promise<Package>,
  { name, version, files }: { name: string; version: number; files: string },
): Promise<Package> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException | null)?.code !== 'ERR_MODULE_NOT_FOUND') {
      const [reason] = String(cause).split('\n', 1)
      throw new PackageBroken(`${files} needs ${name}, which cannot be loaded: ${reason}`, {
        cause,
      })
    }
    const message = `${files} needs ${name}: npm install ${name}@${version}`
    throw new PackageMissing(name, message, { cause })
  }
}
