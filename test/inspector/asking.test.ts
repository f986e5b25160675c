// What a view shows of an answer: of the question that stands above it, and of no other.

import t from 'tap'
import { serve } from '../http/fixtures/serving.js'
import { noBrowser, signIn, watchedPage } from './browser.js'
import { storeThings } from './things.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

t.test('under a new question there is no old answer', { skip }, async (t) => {
  const { url, lorekeep } = await serve(t, { inspector: true })
  await storeThings(t, lorekeep)
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/ask?q=boat`, 'alice')
  const passage = page.locator('.sources').getByText('Alice owns a boat.')
  await passage.waitFor()
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  await page.route(/\/graph\/retrieve/, async (route) => {
    await held
    await route.continue()
  })
  await page.getByLabel('Question').fill('Who owns something?')
  await page.getByLabel('Question').press('Enter')
  await page.getByText('Loading …').waitFor()
  t.equal(await passage.count(), 0)
  release()
  await passage.waitFor()
  t.strictSame(faults, [])
})

t.test('an answer stays where asking again fails, and that is said', { skip }, async (t) => {
  const { url, lorekeep } = await serve(t, { inspector: true })
  const { job } = await storeThings(t, lorekeep)
  const { page } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/queue/${job}`, 'alice')
  await page.getByText('no oars').waitFor()
  await page.route(new RegExp(`/jobs/${job}$`), (route) => route.fulfill({ status: 500 }))
  await page.getByRole('alert').waitFor()
  t.equal(await page.getByText('no oars').count(), 1)
  await page.unroute(new RegExp(`/jobs/${job}$`))
  await page.getByRole('alert').waitFor({ state: 'detached' })
  t.equal(await page.getByText('no oars').count(), 1)
})

t.test('what is just taken away is not asked for', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  const { job } = await flows.load('default', { id: 'first', user: 'alice', content: 'x' })
  await flows.load('default', { id: 'second', user: 'alice', content: 'x' })
  const { page, faults } = await watchedPage(t, url)
  await page.route(/\/(jobs|documents)\//, async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue()
    const response = await route.fetch()
    // It is gone, and the page knows nothing of it for longer than it waits before it looks again.
    await page.waitForTimeout(4000)
    await route.fulfill({ response })
  })
  await signIn(page, `${url}/api/v1/inspector#/queue/${job}`, 'alice')
  await page.getByRole('button', { name: 'Cancel job' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel job' }).click()
  await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor()
  t.equal(await flows.job(job), undefined)
  await page.goto(`${url}/api/v1/inspector#/documents/second`)
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor()
  t.equal(await flows.document({ user: 'alice', document: 'second' }), undefined)
  t.strictSame(faults, [])
})
