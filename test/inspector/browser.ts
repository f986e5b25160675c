// The inspector in a real Chromium, with an eye on all that a page must not do.

import { readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
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

/** Of the file's browser, where no other one is given. */
type ContextOptions = BrowserContextOptions & { readonly browser?: Browser }

/** A page of its own, as nobody has used it. */
export async function watchedPage(
  t: Test,
  origin: string,
  options: ContextOptions = {},
): Promise<Watched> {
  const { browser = await openBrowser(), ...more } = options
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...more })
  t.teardown(() => context.close())
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI)
  })`)
  const page = await context.newPage()
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
  if (wanted !== undefined) {
    const isThere = `${active} === ${JSON.stringify(wanted)}`
    await page.waitForFunction(isThere, undefined, { timeout: 10_000 }).catch(() => undefined)
  }
  return page.evaluate<string>(active)
}

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What is not as WCAG 2.2 AA wants it. */
export async function inaccessible(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe)
  return page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(tags)} }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target.join(' '))))`,
  )
}
