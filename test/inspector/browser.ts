// The inspector in a real Chromium, with an eye on all that a page must not do.

import { readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import root from 'tap'
import type { Test } from 'tap'
import { executablePath } from '../client/browser.js'

export { noBrowser } from '../client/browser.js'

let opened: Promise<Browser> | undefined

/** One for all tests of a file: to start it takes longer than most of them. What a page leaves is of its context. */
function openBrowser(): Promise<Browser> {
  opened ??= launch(root)
  return opened
}

/** One for this test alone, with arguments of its own. */
export async function launch(t: Test, more: readonly string[] = []): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: executablePath as string,
    args: ['--no-sandbox', ...more],
  })
  t.teardown(() => browser.close())
  return browser
}

export interface Watched {
  readonly page: Page
  /** What the page did that it must not: said to the console, asked elsewhere, was kept from by its policy. */
  readonly faults: string[]
}

interface PageOptions extends BrowserContextOptions {
  /** The file's, where no other one is given. */
  readonly browser?: Browser
  /** For what changes more than its page, as clocks do. */
  readonly isAlone?: boolean
}

const shared = new WeakMap<Browser, Promise<BrowserContext>>()
const visited = new Set<string>()

/**
 * A page of its own, as nobody has used it. All that want nothing else share a context, which takes more of the
 * processor than most of them: what a page keeps is kept by origin, and who comes to one again has another context.
 */
export async function watchedPage(
  t: Test,
  origin: string,
  options: PageOptions = {},
): Promise<Watched> {
  const { browser = await openBrowser(), isAlone = false, ...more } = options
  const isShared = !isAlone && Object.keys(more).length === 0 && !visited.has(origin)
  visited.add(origin)
  const context = await (isShared ? sharedContext(browser) : openContext(browser, more))
  if (!isShared) t.teardown(() => context.close())
  const page = await context.newPage()
  t.teardown(() => page.close())
  page.setDefaultTimeout(60_000)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(origin) && !url.startsWith('data:')) faults.push(`elsewhere: ${url}`)
  })
  return { page, faults }
}

function sharedContext(browser: Browser): Promise<BrowserContext> {
  const opened = shared.get(browser) ?? openShared(browser)
  shared.set(browser, opened)
  return opened
}

async function openShared(browser: Browser): Promise<BrowserContext> {
  const context = await openContext(browser, {})
  // Stays: a window goes with its last page, and a new one takes more than a page does.
  await context.newPage()
  return context
}

async function openContext(
  browser: Browser,
  options: BrowserContextOptions,
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI)
  })`)
  return context
}

export async function signIn(page: Page, url: string, token: string): Promise<void> {
  await page.goto(url)
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation').waitFor()
}

const active = `(({ tagName, ariaLabel, id, textContent }) =>
  tagName === 'BODY' ? '' : ariaLabel ?? (id || textContent))(document.activeElement)`

/**
 * What has the focus, by its name; `''` where nothing has. Where another is wanted it has some time: what is seen comes
 * before the focus.
 */
export async function focused(page: Page, wanted?: string | null): Promise<string> {
  // Not waitForFunction(), whose second look the policy of the page keeps out.
  for (let looks = 0; ; looks++) {
    const found = await page.evaluate<string>(active)
    if (wanted === undefined || found === wanted || looks === 200) return found
    await page.waitForTimeout(50)
  }
}

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What is not as WCAG 2.2 AA wants it. */
export async function inaccessible(page: Page): Promise<readonly string[]> {
  return violations(page, tags)
}

/** The same in both colour schemes: by those rules that look at colours alone where it is dark. */
export async function inaccessibleByDayAndNight(page: Page): Promise<readonly string[]> {
  const byDay = await inaccessible(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const byNight = await violations(page, ['color-contrast', 'link-in-text-block'])
  await page.emulateMedia({ colorScheme: 'light' })
  return [...byDay, ...byNight.map((violation) => `dark: ${violation}`)]
}

/** By rules, or by all that have one of the tags. */
async function violations(page: Page, runOnly: readonly string[]): Promise<readonly string[]> {
  // Half a megabyte takes longer to bring than most views to look at.
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(axe)
  return page.evaluate(
    `axe.run({ runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] }).then(
      ({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target.join(' '))))`,
  )
}
