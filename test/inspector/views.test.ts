// Every view of the inspector, over a real store: nothing that a page must not do, and all of it accessible.

import t from 'tap'
import type { Page } from 'playwright-core'
import { serve } from '../http/fixtures/serving.js'
import {
  inaccessible,
  inaccessibleByDayAndNight,
  noBrowser,
  signIn,
  watchedPage,
} from './browser.js'

const sample = 'The ferry of Hammersmith\n\nDick rowed the old man over the river in his boat.\n'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

t.test('what is loaded can be looked at in every view', { skip }, async (t) => {
  const { url, objects, flows } = await serve(t, { inspector: true })
  const runner = flows.run()
  t.teardown(() => runner.stop())
  await objects.defineSchema({
    name: 'boats',
    fields: { id: { type: 'string' }, oars: { type: 'number' } },
  })
  const values = Array.from({ length: 60 }, (_, n) => ({ id: `b${n}`, oars: n % 7 }))
  const metadata = { id: 'batch', user: 'alice', collection: 'default' }
  await objects.import({ metadata, schema_name: 'boats', values })
  const buffer = Buffer.from(sample)

  const { page, faults } = await watchedPage(t, url)
  const look = async (view: string) =>
    t.strictSame(await inaccessibleByDayAndNight(page), [], `${view} is accessible`)
  await page.goto(`${url}/api/v1/inspector`)
  await page.getByLabel('Token').waitFor()
  await look('sign in')
  await signIn(page, `${url}/api/v1/inspector`, 'admin')
  await page.getByLabel('User').fill('alice')
  await page.getByLabel('User').press('Enter')

  await open(page, 'Documents')
  const name = 'ferry.txt'
  await page.setInputFiles('input[type=file]', { name, mimeType: 'text/plain', buffer })
  await page.getByText('Done: it can be asked.').waitFor()
  await page.getByRole('link', { name }).waitFor()
  await look('documents')
  await page.getByLabel('Name begins with').fill('nothing of this')
  await page.getByText('No name begins with this.').waitFor()
  await page.getByLabel('Name begins with').fill('')
  await page.getByRole('link', { name }).click()
  await page.locator('mark').first().waitFor()
  await look('a document')

  await open(page, 'Ask')
  await page.getByLabel('Question').fill('Who rowed with the old man?')
  await page.getByLabel('Question').press('Enter')
  await page.locator('mark').first().waitFor()
  const marked = (await page.locator('mark').allTextContents()).map((text) => text.toLowerCase())
  t.ok(marked.includes('rowed') && marked.includes('old'), `marked: ${marked.join(', ')}`)
  await page.getByText('Why').first().click()
  await page.getByText('curl', { exact: true }).click()
  t.match(await page.locator('pre').first().textContent(), /curl '.*\/graph\/retrieve\?user=alice'/)
  await look('ask')
  await page.reload()
  t.equal(await page.getByLabel('Token').count(), 1, 'the token is not kept unasked')
  await signIn(page, page.url(), 'alice')
  await page.locator('mark').first().waitFor()

  await open(page, 'Cores')
  await page.getByRole('rowheader', { name }).waitFor()
  await look('cores')
  await page.getByLabel('Name begins with').fill('nothing of this')
  await page.getByText('No name begins with this.').waitFor()

  await open(page, 'Objects')
  await page.getByText('60 objects').waitFor()
  await page.getByLabel('Filter').fill('{"oars": {"$gte": 5')
  await page.getByText('This is no JSON object yet').waitFor()
  await page.getByLabel('Filter').fill('{"oars": {"$gte": 5}}')
  await page.getByText('16 objects').waitFor()
  await look('objects')

  await open(page, 'Queue')
  await page.getByRole('link', { name }).click()
  await page.getByRole('heading', { name }).waitFor()
  await look('a job')
  t.strictSame(faults, [])
})

t.test('the queue is live, and what is done to it is seen', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  await flows.define({ id: 'f', maxAttempts: 1, steps: [{ name: 'break', run: refuse }] })
  const runner = flows.run()
  t.teardown(() => runner.stop())
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/queue`, 'admin')
  await page.getByText('No job fits.').waitFor()
  await page.getByText('live', { exact: true }).waitFor()
  const { job } = await flows.load('f', { id: 'broken', user: 'alice', content: 'x' })
  await page.getByRole('cell', { name: 'no oars' }).waitFor()
  const tile = page.getByRole('region', { name: 'f', exact: true })
  await tile.getByText('1', { exact: true }).waitFor()
  t.strictSame(await inaccessible(page), [])
  await page.getByRole('link', { name: 'broken' }).click()
  await page.getByText('no oars').waitFor()
  await page.getByRole('button', { name: 'Cancel job' }).click()
  t.strictSame(await inaccessible(page), [], 'a question')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel job' }).click()
  await page.getByText('No job fits.').waitFor()
  t.equal(await flows.job(job), undefined)
  t.strictSame(faults, [])
})

t.test('all that match are retried and cancelled at once', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  await flows.define({ id: 'f', maxAttempts: 1, steps: [{ name: 'break', run: refuse }] })
  const runner = flows.run()
  t.teardown(() => runner.stop())
  for (let n = 0; n < 120; n++) {
    await flows.load('f', {
      id: `${n % 2 === 0 ? 'even' : 'odd'}${n}`,
      user: 'alice',
      content: 'x',
    })
  }
  while ((await flows.stats('f')).dead < 120)
    await new Promise((resolve) => setTimeout(resolve, 20))
  await runner.stop()
  await flows.define({ id: 'f', maxAttempts: 1 })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/queue?state=dead&error=no+oars`, 'alice')
  await page.getByRole('link', { name: 'odd119' }).waitFor()
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Retry all that match' }).click()
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click()
  t.equal((await flows.stats('f')).dead, 120, 'who does not want it after all has changed nothing')
  await page.getByLabel('Document').fill('even0')
  await page.getByText('odd119').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Cancel all that match' }).click()
  await dialog.getByRole('button', { name: 'Cancel all that match' }).click()
  await page.getByText('1 job was taken out.').waitFor()
  t.match(await flows.stats('f'), { dead: 119, queued: 0 })
  await page.getByLabel('Document').fill('')
  await page.getByRole('link', { name: 'odd119' }).waitFor()
  await page.getByRole('button', { name: 'Retry all that match' }).click()
  await dialog.getByRole('button', { name: 'Retry all that match' }).click()
  await page.getByText('119 jobs went back to their queues.').waitFor()
  t.match(await flows.stats('f'), { dead: 0, queued: 119 })
  await page.getByText('No job fits.').waitFor()
  t.strictSame(await inaccessible(page), [])
  t.strictSame(faults, [])
})

async function open(page: Page, view: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: view }).click()
  await page.getByRole('heading', { name: view, level: 1 }).waitFor()
}

function refuse(): never {
  throw new Error('no oars')
}
