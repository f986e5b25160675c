// The page of the inspector in a Chromium that has not seen it: when something is painted first, and when its list is
// there; and how old the counts of a queue are that it shows while jobs go through it.

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'
import { MemoryBackend } from '../adapters/memory.js'
import { createHandler } from '../src/http/index.js'
import { createLorekeep } from '../src/index.js'
import * as bench from './measure.js'

const rounds = 7
const executablePath = '/usr/bin/chromium'

if (existsSync(executablePath)) await measure()
else bench.report({ scenario: 'inspector', peer: '', skipped: 'there is no Chromium' })

async function measure(): Promise<void> {
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  const { knowledge, objects, flows } = keep
  const authenticate = 'none'
  const handler = createHandler({ knowledge, objects, flows, authenticate, inspector: true })
  const server = createServer((request, response) => void handler(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/api/v1/inspector`
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const paints: number[] = []
  const readies: number[] = []
  for (let round = 0; round < rounds; round++) {
    const { paint, ready } = await opened(browser, url)
    paints.push(paint)
    readies.push(ready)
  }
  tell('first paint', paints, 1000)
  tell('a view that can be used', readies, 2000)
  await flows.define({ id: 'slow', steps: [{ name: 'wait', run: () => sleep(20, {}) }] })
  tell('counts of a queue: how old', await agesOf(browser, url, flows), 2000)
  await browser.close()
  server.closeAllConnections()
  server.close()
}

/** In milliseconds, since the address was gone to. */
async function opened(browser: Browser, url: string) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${url}#/documents`)
  await page.getByText('No documents yet.').waitFor()
  const found = await page.evaluate<{ paint: number; ready: number }>(
    `({ paint: performance.getEntriesByName('first-contentful-paint')[0].startTime, ready: performance.now() })`,
  )
  await context.close()
  return found
}

/** Since when what is shown has not been so any more; 0 where it is. */
async function agesOf(
  browser: Browser,
  url: string,
  flows: Awaited<ReturnType<typeof createLorekeep>>['flows'],
): Promise<number[]> {
  const page = await browser.newPage()
  await page.goto(`${url}#/queue`)
  await page.getByRole('region', { name: 'slow' }).getByRole('link').first().waitFor()
  const known: { readonly text: string; until: number }[] = []
  const note = async () => {
    const { queued, active, delayed, dead, done } = await flows.stats('slow')
    const text = [queued, active, delayed, dead, done].join(' ')
    const last = known.at(-1)
    if (last?.text === text) last.until = performance.now()
    else known.push({ text, until: performance.now() })
  }
  const timer = setInterval(() => void note(), 2)
  const runner = flows.run()
  const shown = `[...document.querySelectorAll('[aria-label="slow"] dd')].map(({ textContent }) => textContent).join(' ')`
  const ages: number[] = []
  for (let look = 0; look < 100; look++) {
    if (look % 10 === 0) {
      const load = (n: number) =>
        flows.load('slow', { id: `${look} ${n}`, user: 'alice', content: 'x' })
      await Promise.all(Array.from({ length: 20 }, (_, n) => load(n)))
    }
    await sleep(100)
    const now = performance.now()
    const text = await page.evaluate<string>(shown)
    const found = known.findLast((state) => state.text === text)
    // What lasted less than the clock ticks was not noted.
    if (found !== undefined) ages.push(Math.max(0, now - found.until))
  }
  clearInterval(timer)
  await runner.stop()
  return ages
}

function tell(scenario: string, ms: readonly number[], most: number): void {
  const ours = `${bench.median(ms).toFixed(0)} ms`
  const names = { scenario: `inspector: ${scenario}`, peer: '', ours, theirs: '' }
  bench.report({ ...names, ...bench.spread(ms), unit: 'ms', target: { most } })
}
