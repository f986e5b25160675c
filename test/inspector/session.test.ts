// What stays of who was signed in: nothing.

import t from 'tap'
import { serve } from '../http/fixtures/serving.js'
import { noBrowser, signIn, watchedPage } from './browser.js'
import { goTo } from './things.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

const keptToken = 'sessionStorage.getItem("lorekeep.token")'

t.test(
  'a token is kept when the server knows it, and only where that is asked for',
  { skip },
  async (t) => {
    const { url } = await serve(t, { inspector: true })
    const { page } = await watchedPage(t, url)
    await page.goto(`${url}/api/v1/inspector`)
    await page.getByLabel('Token').waitFor()
    await page.evaluate('sessionStorage.setItem("lorekeep.token", "stale")')
    await page.reload()
    await page.getByLabel('Token').waitFor()
    t.equal(await page.evaluate(keptToken), null, 'one that is refused is forgotten')
    let asked = 0
    const seen: unknown[] = []
    await page.route('**/whoami', async (route) => {
      asked++
      seen.push(await page.evaluate(keptToken))
      await route.continue()
    })
    await page.getByLabel('Keep it until this tab is closed').check()
    await page.getByLabel('Token').fill('nobody')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    t.equal(await page.evaluate(keptToken), null)
    await page.getByLabel('Token').fill('alice')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation').waitFor()
    t.equal(await page.evaluate(keptToken), 'alice')
    t.strictSame(seen, [null, null], 'and not before')
    await page.unroute('**/whoami')
    await page.getByRole('button', { name: 'Sign out' }).click()
    t.equal(await page.evaluate(keptToken), null)
    // What an older page left.
    await page.evaluate('sessionStorage.setItem("lorekeep.token", "bob")')
    await signInAgain()
    t.equal(await page.evaluate(keptToken), null, 'unasked none is kept')
    t.equal(asked, 2)

    async function signInAgain(): Promise<void> {
      await page.getByLabel('Token').fill('alice')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('navigation').waitFor()
    }
  },
)

t.test('who signs out leaves no question, and nothing under way', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/ask?q=secret`, 'alice')
  await page.getByText('There is nothing to ask yet.').waitFor()
  let isAsked = () => {}
  const asked = new Promise<void>((resolve) => (isAsked = resolve))
  // The view asks for an engine by the connection that the stores do not have.
  await page.route('**/whoami', () => isAsked())
  await goTo(page, 'sparql?query=secret')
  await asked
  const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/whoami'))
  await page.getByRole('button', { name: 'Sign out' }).click()
  await failed
  await page.getByLabel('Token').waitFor()
  t.equal(await page.evaluate('location.hash'), '#/ask')
  await page.unroute('**/whoami')
  await page.getByLabel('Token').fill('bob')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation').waitFor()
  t.equal(await page.getByLabel('Question').inputValue(), '')
  t.strictSame(faults, [])
})

t.test('who goes back to what somebody else asked is shown nothing of it', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/ask?q=secret`, 'alice')
  for (const place of ['documents?prefix=secret', 'ask?q=secret-too', 'cores']) {
    await goTo(page, place)
    // The page has heard of it.
    while ((await page.evaluate('history.state')) === null) await page.waitForTimeout(20)
    await page.waitForLoadState('networkidle')
  }
  // What is ahead is no more shown than what is behind.
  await page.goBack()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(`${request.url()} ${request.postData()}`))
  const hash = () => page.evaluate<string>('location.hash')
  const settled = async () => {
    await page.waitForURL((url) => url.hash === '#/ask')
    return hash()
  }
  await page.goForward()
  t.equal(await settled(), '#/ask')
  for (const _ of [1, 2]) {
    await page.goBack()
    t.equal(await settled(), '#/ask')
  }
  t.strictSame(asked, [])
  await page.getByLabel('Token').fill('bob')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('There is nothing to ask yet.').waitFor()
  await page.goBack()
  t.equal(await settled(), '#/ask')
  await page.getByRole('link', { name: 'Documents', exact: true }).click()
  await page.getByText('No documents yet').waitFor()
  t.equal(await page.getByLabel('Name begins with').inputValue(), '')
  await goTo(page, 'documents?prefix=own')
  await goTo(page, 'cores')
  await page.goBack()
  t.equal(await hash(), '#/documents?prefix=own', 'what one has asked oneself is there')
  t.notMatch(asked.join(), 'secret')
  t.strictSame(faults, [])
})

t.test('an address that comes with the first view is gone to', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true })
  const { page } = await watchedPage(t, url)
  await page.goto(`${url}/api/v1/inspector`)
  await page.getByLabel('Token').fill('alice')
  await page.evaluate(`new MutationObserver((_, observer) => {
    if (document.querySelector('nav') === null) return
    observer.disconnect()
    location.hash = '#/cores'
  }).observe(document.body, { childList: true, subtree: true })`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('No cores yet').waitFor()
  t.equal(await page.evaluate('location.hash'), '#/cores')
})
