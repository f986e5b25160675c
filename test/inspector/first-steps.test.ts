// Somebody who has read nothing: a token as it was printed, a page with nothing in it, a text, and a question.

import t from 'tap'
import { serve } from '../http/fixtures/serving.js'
import { inaccessible, noBrowser, signIn, watchedPage } from './browser.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

t.test('each step says which is the next', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  const runner = flows.run()
  t.teardown(() => runner.stop())
  const { page, faults } = await watchedPage(t, url)
  await page.goto(`${url}/api/v1/inspector`)
  await page.getByText('the token that the server printed').waitFor()
  await page.getByLabel('Token').fill('export LOREKEEP_TOKEN=alice ')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('There is nothing to ask yet.').waitFor()
  t.strictSame(await inaccessible(page), [], 'nothing to ask')
  await page.getByLabel('Question').fill('Who rowed?')
  await page.getByLabel('Question').press('Enter')
  await page.getByText('No passage speaks of that.').waitFor()
  await page.getByRole('link', { name: 'Load documents' }).click()
  const buffer = Buffer.from('Dick rowed the old man over the river.')
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'ferry.txt', mimeType: 'text/plain', buffer })
  const done = page.getByText('Done: it can be asked.')
  await done.waitFor()
  t.strictSame(await inaccessible(page), [], 'it can be asked')
  await done.getByRole('link', { name: 'Ask' }).click()
  await page.locator('input:focus').waitFor()
  await page.keyboard.type('Who rowed?')
  await page.keyboard.press('Enter')
  await page.locator('.sources').getByText('the old man over the river.').waitFor()
  // By the forms that the search finds, and not by letters.
  await page.getByLabel('Question').fill('Who rows?')
  await page.getByLabel('Question').press('Enter')
  await page.locator('.sources mark').filter({ hasText: 'rowed' }).waitFor()
  t.equal(await page.getByText('There is nothing to ask yet.').count(), 0)
  const likest = page.getByText('None of them has a word of the question')
  t.equal(await likest.count(), 0)
  await page.getByLabel('Question').fill('zxcvbn')
  await page.getByLabel('Question').press('Enter')
  await likest.waitFor()
  t.strictSame(faults, [])
})

t.test('who asks before all is read is told to wait', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/documents`, 'alice')
  await page.getByText('No documents yet.').waitFor()
  const buffer = Buffer.from('Dick rowed the old man over the river.')
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'ferry.txt', mimeType: 'text/plain', buffer })
  await page.getByText('None is done yet.').waitFor()
  t.equal(await page.getByText('No documents yet.').count(), 0)
  await page.getByRole('link', { name: 'Ask', exact: true }).click()
  const soon = page.getByText('What was loaded is being read.')
  await soon.waitFor()
  t.strictSame(await inaccessible(page), [])
  const runner = flows.run()
  t.teardown(() => runner.stop())
  await soon.waitFor({ state: 'detached' })
  t.equal(await page.getByText('There is nothing to ask yet.').count(), 0)
  t.strictSame(faults, [])
})
