// The client in a page of another origin, in a real Chromium: a core from a file picker, out to a file, events, aborts.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import type * as client from '../../src/client/index.js'
import { createHandler } from '../../src/http/index.js'
import type { Lorekeep } from '../../src/index.js'

const places = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
export const executablePath = places
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path))

/** Why there is none to try, or false. */
export const noBrowser = executablePath === undefined && 'there is no Chromium'

/** What the page found. */
export interface Found {
  readonly imported: number
  readonly told: readonly number[]
  readonly exported: number
  readonly digest: string
  readonly last: string
  readonly abortedMs: readonly number[]
  readonly refused: { readonly code: string; readonly status: number; readonly requestId: string }
}

/** Imports the file as `alice`'s, and so on. */
export async function inBrowser(keep: Lorekeep, file: string): Promise<Found> {
  const bundle = await build({
    entryPoints: ['dist/src/client/index.js'],
    ...{ bundle: true, format: 'esm', platform: 'browser', write: false },
  })
  const html = `<!doctype html><meta charset="utf-8"><input type="file" />
    <script type="module">import * as client from './client.js'; globalThis.client = client</script>`
  const pages = createServer((request, response) => {
    const isClient = request.url === '/client.js'
    response.setHeader('Content-Type', isClient ? 'text/javascript' : 'text/html')
    response.end(isClient ? bundle.outputFiles?.[0]?.contents : html)
  })
  const origin = `http://localhost:${await listening(pages)}`
  const handler = createHandler({
    knowledge: keep.knowledge,
    objects: keep.objects,
    flows: keep.flows,
    cors: { origins: [origin] },
    authenticate: (token) => (token === 'alice' ? { user: 'alice' } : null),
  })
  const api = createServer((request, response) => void handler(request, response))
  const url = `http://127.0.0.1:${await listening(api)}`
  const browser = await chromium.launch({
    executablePath: executablePath as string,
    args: ['--no-sandbox'],
  })
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(300_000)
    await page.goto(origin)
    await page.setInputFiles('input', file)
    await page.waitForFunction('globalThis.client')
    return (await page.evaluate(`(${visit.toString()})(${JSON.stringify(url)})`)) as Found
  } finally {
    await browser.close()
    for (const server of [pages, api]) {
      server.closeAllConnections()
      server.close()
    }
  }
}

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, resolve))
  return (server.address() as AddressInfo).port
}

/** Runs in the page, and so has nothing of what is around it. */
async function visit(url: string): Promise<Found> {
  const { client, document, navigator } = globalThis as unknown as Page
  const keep = client.connect({ url, token: 'alice' })
  const file = document.querySelector('input').files[0] as Blob
  const ref = { user: 'alice', id: 'picked' }
  const told: number[] = []
  const onProgress = ({ bytes }: { bytes: number }) => void told.push(bytes)
  const { bytes: imported } = await keep.knowledge.import(ref, file, { onProgress })

  // To a file of the browser's own, which lies on the disk.
  const directory = await navigator.storage.getDirectory()
  const handle = await directory.getFileHandle('exported', { create: true })
  const writable = await handle.createWritable()
  for await (const chunk of await keep.knowledge.export(ref)) await writable.write(chunk)
  await writable.close()
  const exported = await handle.getFile()
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await exported.arrayBuffer()))
  const digest = [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('')

  const text = { id: 'urn:text', user: 'alice', content: 'Alice met Bob in Berlin.' }
  const { job } = await keep.flows.load('default', text)
  let last = ''
  for await (const { type } of keep.flows.watch({ job })) last = type

  const abortedMs: number[] = []
  const leave = async (run: (signal: AbortSignal, begun: () => void) => Promise<unknown>) => {
    const leaving = new AbortController()
    const reason = new Error('enough')
    let at = 0
    const begun = () => {
      at ||= performance.now()
      leaving.abort(reason)
    }
    const error = await run(leaving.signal, begun).catch((error: unknown) => error)
    if (error !== reason) throw new Error(`not the reason: ${String(error)}`)
    abortedMs.push(performance.now() - at)
  }
  // Whole it must never be: all of it may be on its way when the page leaves.
  const more = new Blob([file, file.slice(0, -1)])
  await leave((signal, onProgress) =>
    keep.knowledge.import({ ...ref, id: 'cut' }, more, { signal, onProgress }),
  )
  await leave(async (signal, begun) => {
    for await (const _ of await keep.knowledge.export(ref, { signal })) begun()
  })
  const missing = await keep.knowledge.stat({ ...ref, id: 'cut' })
  if (missing !== undefined) throw new Error('an import that was given up is there')
  const refused = await client
    .connect({ url, token: 'nobody' })
    .knowledge.import(ref, file, { onProgress: () => {} })
    .then(
      () => ({ code: 'none', status: 0, requestId: '' }),
      ({ code, status, requestId }: Found['refused']) => ({ code, status, requestId }),
    )
  return { imported, told, exported: exported.size, digest, last, abortedMs, refused }
}

interface Page {
  readonly client: typeof client
  readonly document: { querySelector(name: string): { files: unknown[] } }
  readonly navigator: {
    readonly storage: {
      getDirectory(): Promise<{
        getFileHandle(
          name: string,
          options: object,
        ): Promise<{
          createWritable(): Promise<{
            write(chunk: Uint8Array): Promise<void>
            close(): Promise<void>
          }>
          getFile(): Promise<Blob>
        }>
      }>
    }
  }
}

/** What has to hold of a file of so many bytes. */
export function checkFound(found: Found, bytes: number, digest: string): void {
  const { imported, told, exported, last, abortedMs, refused } = found
  assert.deepEqual([imported, exported, found.digest], [bytes, bytes, digest])
  assert.equal(told.at(-1), bytes)
  assert.ok(told.every((sent, at) => at === 0 || sent >= (told[at - 1] ?? 0)))
  assert.equal(last, 'done')
  assert.equal(abortedMs.length, 2)
  assert.deepEqual([refused.code, refused.status], ['LK_HTTP_UNAUTHORIZED', 401])
  assert.match(refused.requestId, /./)
}
