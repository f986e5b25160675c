// The page of the inspector in a Chromium that has not seen it: when something is painted first, and when its list is
// there; how old the counts of a queue are that it shows while jobs go through it; and how long the page is busy at a
// time while a graph is read, laid out and pointed at.

import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'
import { MemoryBackend } from '../adapters/memory.js'
import type { createLorekeep } from '../src/index.js'
import { executablePath } from '../test/client/browser.js'
import { Random } from '../test/fixtures/random.js'
import { openInspector, type Opened } from '../test/inspector/opening.js'
import { tasksDuring, type Task } from '../test/inspector/tasks.js'
import * as bench from './measure.js'

const user = 'alice'
const rounds = 7
const graphRounds = 5
const graphs = [
  { nodes: 1000, links: 3000 },
  { nodes: 5000, links: 20_000 },
] as const

if (executablePath !== undefined) await measure(executablePath)
else bench.report({ scenario: 'inspector', peer: '', skipped: 'there is no Chromium' })

async function measure(executablePath: string): Promise<void> {
  await using opened = await openInspector(new MemoryBackend())
  const { flows } = opened.keep
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const paints: number[] = []
  const readies: number[] = []
  for (let round = 0; round < rounds; round++) {
    const { paint, ready } = await times(browser, opened.url)
    paints.push(paint)
    readies.push(ready)
  }
  tell('first paint', paints, 1000)
  tell('a view that can be used', readies, 2000)
  await flows.define({ id: 'slow', steps: [{ name: 'wait', run: () => sleep(20, {}) }] })
  tell('counts of a queue: how old', await agesOf(browser, opened.url, flows), 2000)
  for (const graph of graphs) await measureGraph(browser, opened, graph)
  await browser.close()
}

/** The longest task of each round, by the clock and by the processor, whose time others do not take. */
async function measureGraph(
  browser: Browser,
  { keep, url }: Opened,
  { nodes, links }: (typeof graphs)[number],
): Promise<void> {
  const id = `graph-${nodes}`
  const random = new Random(nodes)
  const iri = (n: number) => ({ v: `http://example.org/n${n}`, e: true })
  const p = { v: 'http://example.org/knows', e: true }
  const t = Array.from({ length: links }, (_, n) => ({
    s: iri(n % nodes),
    p,
    o: iri(random.below(nodes)),
  }))
  await keep.knowledge.write({ user, id }, [
    ['t', { m: { i: id, u: user, m: [], c: 'default' }, t }],
  ])
  const laidOut: Task[] = []
  const pointed: Task[] = []
  for (let round = 0; round < graphRounds; round++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
    await page.goto(`${url}#/cores`)
    await page.getByLabel('User').fill(user)
    await page.getByLabel('User').press('Enter')
    const link = page.getByRole('link', { name: id })
    await link.waitFor()
    const drawn = await tasksDuring(browser, page, async () => {
      await link.click()
      await page.locator('canvas[data-done]').waitFor()
    })
    laidOut.push(longest(drawn))
    pointed.push(longest(await tasksDuring(browser, page, () => point(page))))
    await context.close()
  }
  const said = `${nodes.toLocaleString('en')} nodes, ${links.toLocaleString('en')} links`
  const most = nodes <= 1000 ? 50 : undefined
  for (const [work, tasks] of [
    ['read and laid out', laidOut],
    ['pointed at', pointed],
  ] as const) {
    tell(
      `${said}, ${work}: longest task, processor`,
      tasks.map(({ processorMs }) => processorMs),
      most,
    )
    tell(
      `${said}, ${work}: longest task, clock`,
      tasks.map(({ ms }) => ms),
      most,
    )
  }
}

/** A mouse that goes all over a picture. */
async function point(page: Page): Promise<void> {
  const box = await page.locator('canvas[data-done]').boundingBox()
  if (box === null) throw new Error('no picture')
  for (let step = 0; step < 60; step++) {
    const [x, y] = [((step * 37) % 100) / 100, ((step * 61) % 100) / 100]
    await page.mouse.move(box.x + 4 + x * (box.width - 8), box.y + 4 + y * (box.height - 60))
  }
}

function longest(tasks: readonly Task[]): Task {
  return {
    ms: Math.max(...tasks.map(({ ms }) => ms)),
    processorMs: Math.max(...tasks.map(({ processorMs }) => processorMs)),
  }
}

/** In milliseconds, since the address was gone to. */
async function times(browser: Browser, url: string) {
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
      const load = (n: number) => flows.load('slow', { id: `${look} ${n}`, user, content: 'x' })
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

function tell(scenario: string, ms: readonly number[], most: number | undefined): void {
  const ours = `${bench.median(ms).toFixed(0)} ms`
  const names = { scenario: `inspector: ${scenario}`, peer: '', ours, theirs: '' }
  const target = most === undefined ? {} : { target: { most } }
  bench.report({ ...names, ...bench.spread(ms), unit: 'ms', ...target })
}
