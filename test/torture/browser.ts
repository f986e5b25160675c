// A core of many MB from a file picker in a real Chromium, by a page of another origin, and out to a file again.

import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { once } from 'node:events'
import { LevelBackend } from '../../adapters/level/index.js'
import { createLorekeep } from '../../src/index.js'
import { checkFound, inBrowser, noBrowser } from '../client/browser.js'
import { core } from '../http/fixtures/serving.js'

export async function browserRun(directory: string, megabytes: number): Promise<unknown> {
  if (noBrowser !== false) return `skipped: ${noBrowser}`
  const file = join(directory, 'picked.core')
  const out = createWriteStream(file)
  const hash = createHash('sha256')
  const piece = core('picked', 'alice', 1500)
  let bytes = 0
  while (bytes < megabytes * 1e6) {
    hash.update(piece)
    bytes += piece.length
    if (!out.write(piece)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')

  const keep = await createLorekeep({ backend: new LevelBackend(join(directory, 'data')) })
  keep.flows.run()
  try {
    const started = performance.now()
    const found = await inBrowser(keep, file)
    checkFound(found, bytes, hash.digest('hex'))
    const seconds = (performance.now() - started) / 1000
    return { bytes, told: found.told.length, abortedMs: found.abortedMs, seconds }
  } finally {
    await keep.close()
  }
}
