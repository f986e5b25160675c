// `lorekeep import`: which of its ways a file goes. What the other needs is not loaded.

import type { ImportCommandOptions } from './import-options.js'

export async function importFile(file: string, options: ImportCommandOptions): Promise<void> {
  const { format = /\.tgx$/i.test(file) ? 'tgx' : undefined } = options
  if (format === 'tgx') {
    const { importWorkspace } = await import('./import-workspace.js')
    await importWorkspace(file, options)
  } else {
    const { importCore } = await import('./import.js')
    await importCore(file, options)
  }
}
