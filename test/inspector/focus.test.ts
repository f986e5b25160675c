// Where the focus goes when what had it is gone, and questions that stay until they are answered.

import t from 'tap'
import type { Page } from 'playwright-core'
import { serve } from '../http/fixtures/serving.js'
import { focused, noBrowser, signIn, watchedPage } from './browser.js'
import { storeThings } from './things.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

t.test('who deletes by keyboard goes on from there', { skip }, async (t) => {
  const { url, objects, lorekeep } = await serve(t, { inspector: true })
  const { job } = await storeThings(t, lorekeep)
  const metadata = { id: 'batch', user: 'alice', collection: 'default' }
  await objects.import({ metadata, schema_name: 'boats', values: [{ id: 'b2', name: 'Swift' }] })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/objects`, 'alice')
  await page.getByText('2 objects').waitFor()
  t.equal(await focused(page, ''), '', 'a page begins at its beginning')
  await remove(page, 'Delete b1', 'Delete')
  await page.getByText('1 object', { exact: true }).waitFor()
  t.equal(await focused(page, 'Objects'), 'Objects', 'the table')
  await remove(page, 'Delete b2', 'Delete')
  await page.getByText('No objects yet.').waitFor()
  t.equal(await focused(page, 'content'), 'content', 'where the table was')

  await page.getByRole('link', { name: 'Queue' }).click()
  await page.getByRole('link', { name: 'of-alice-dead' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'of-alice-dead' }).waitFor()
  t.equal(await focused(page, 'of-alice-dead'), 'of-alice-dead', 'the name of the next view')
  t.match(page.url(), job)
  await remove(page, 'Cancel job', 'Cancel job')
  await page.getByRole('heading', { name: 'Queue' }).waitFor()
  t.equal(await focused(page, 'Queue'), 'Queue')
  await page.getByRole('link', { name: 'Ask' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Ask' }).waitFor()
  t.equal(await focused(page, 'Ask'), 'Ask', 'a link that is still there keeps it')
  t.strictSame(faults, [])
})

t.test('what came last has the focus when nothing more comes', { skip }, async (t) => {
  const { url, objects } = await serve(t, { inspector: true })
  await objects.defineSchema({ name: 'boats', fields: { name: { type: 'string' } } })
  const metadata = { id: 'batch', user: 'alice', collection: 'default' }
  const values = Array.from({ length: 120 }, (_, n) => ({ id: `b${100 + n}` }))
  await objects.import({ metadata, schema_name: 'boats', values })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/objects?sort=name`, 'alice')
  const more = page.getByRole('button', { name: 'Show more' })
  const rows = page.locator('tbody tr')
  await more.focus()
  await page.keyboard.press('Enter')
  await rows.nth(99).waitFor()
  t.equal(await focused(page, 'Show more'), 'Show more', 'as long as there is more')
  await page.keyboard.press('Enter')
  await rows.nth(119).waitFor()
  await more.waitFor({ state: 'detached' })
  const first = await rows.nth(100).textContent()
  t.equal(await focused(page, first), first, 'the first of what came')
  await page.keyboard.press('Tab')
  t.match(await focused(page), /^Edit b/, 'and its buttons next')
  t.strictSame(faults, [])
})

t.test('a question stays while what was confirmed is done', { skip }, async (t) => {
  const { url, objects, lorekeep } = await serve(t, { inspector: true })
  await storeThings(t, lorekeep)
  const { page } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/objects`, 'alice')
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  await page.route(/\/objects\/b1/, async (route) => {
    await held
    await route.fulfill({ status: 403, json: { error: { message: 'no oars' } } })
  })
  const dialog = page.getByRole('dialog')
  await remove(page, 'Delete b1', 'Delete')
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape')
  t.ok(await dialog.isVisible(), 'while it is done')
  t.ok(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled())
  release()
  await dialog.getByRole('alert').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  t.ok(await objects.get('default', 'b1'))
})

async function remove(page: Page, name: string, confirm: string): Promise<void> {
  await page.getByRole('button', { name }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: confirm, exact: true }).focus()
  await page.keyboard.press('Enter')
}
