// A large core into the page and out of it again, and one that is cancelled on its way: nothing of it is held in memory.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { chromium } from 'playwright-core'
import { LevelBackend } from '../../adapters/level/index.js'
import { executablePath } from '../client/browser.js'
import { core } from '../http/fixtures/serving.js'
import { openInspector } from './opening.js'

export interface LargeReport {
  readonly bytes: number
  /** Of all processes of the browser together, without what is mapped of files: what was added at the most. */
  readonly addedBytes: number
  readonly seconds: number
}

export async function largeRun(directory: string, megabytes: number): Promise<LargeReport> {
  const started = performance.now()
  const file = join(directory, 'large.core')
  const { bytes, digest } = await writeCore(file, megabytes * 1e6)
  await using opened = await openInspector(new LevelBackend(join(directory, 'data')))
  const { keep, url } = opened
  const profile = join(directory, 'profile')
  // In a profile of its own: what has none keeps the files of pages in memory.
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executablePath as string,
    args: ['--no-sandbox'],
  })
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(3_600_000)
    await page.addInitScript('delete globalThis.showSaveFilePicker')
    const answer = await page.goto(`${url}#/cores`)
    assert.equal(answer?.status(), 200, 'the page was built: node scripts/inspector.js')
    await page.getByLabel('User').fill('alice')
    await page.getByLabel('User').press('Enter')
    await page.getByText('No cores yet.').waitFor()
    const before = memoryOf(profile)
    let most = before
    const timer = setInterval(() => (most = Math.max(most, memoryOf(profile))), 250)
    await page.setInputFiles('input[type=file]', file)
    await page.evaluate(cancelMidway)
    await page.getByText('Cancelled: nothing of it is stored.').waitFor()
    assert.equal(await keep.knowledge.stat({ user: 'alice', id: 'large' }), undefined)
    await page.setInputFiles('input[type=file]', file)
    await page.getByRole('rowheader', { name: 'large' }).waitFor()
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download large' }).click(),
    ])
    assert.equal(await digestOf(await saved.path()), digest)
    clearInterval(timer)
    const seconds = (performance.now() - started) / 1000
    return { bytes, addedBytes: most - before, seconds }
  } finally {
    await context.close()
  }
}

/** In the page itself: by the time that somebody outside had looked, a small file would be gone. */
const cancelMidway = `new Promise((resolve) => {
  const look = () => {
    const bar = document.querySelector('progress')
    if (bar === null || bar.value < bar.max / 3) return requestAnimationFrame(look)
    resolve(bar.closest('li').querySelector('button').click())
  }
  look()
})`

async function writeCore(file: string, least: number) {
  const out = createWriteStream(file)
  const hash = createHash('sha256')
  const piece = core('large', 'alice', 1500)
  let bytes = 0
  while (bytes < least) {
    hash.update(piece)
    bytes += piece.length
    if (!out.write(piece)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')
  return { bytes, digest: hash.digest('hex') }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/** Of a browser's processes, in bytes: those that were started for a profile, and by these. */
function memoryOf(profile: string): number {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((id) => ({ id, command: textOf(id, 'cmdline'), status: textOf(id, 'status') }))
  const found = new Set(
    processes.filter(({ command }) => command.includes(profile)).map(({ id }) => id),
  )
  for (let size = -1; size !== found.size;) {
    size = found.size
    for (const { id, status } of processes) {
      if (found.has(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? '')) found.add(id)
    }
  }
  return (
    processes
      .filter(({ id }) => found.has(id))
      .reduce((sum, { status }) => sum + Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0), 0) *
    1024
  )
}

/** Empty where the process has ended. */
function textOf(id: string, name: string): string {
  try {
    return readFileSync(join('/proc', id, name), 'utf8')
  } catch {
    return ''
  }
}
