// The queue tells what there is now, and rests while nobody looks.

import t from 'tap'
import type { Page } from 'playwright-core'
import { ratesOf } from '../../src/inspector/views/queue/rates.js'
import { serve } from '../http/fixtures/serving.js'
import { focused, inaccessible, noBrowser, signIn, watchedPage } from './browser.js'
import { goTo } from './things.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

t.test('it asks nothing while its tab is hidden', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  await flows.load('default', { id: 'first', user: 'alice', content: 'x' })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/queue`, 'admin')
  await page.getByText('live', { exact: true }).waitFor()
  await page.getByText(/The first in the queue came/).waitFor()
  await hide(page, true)
  await page.getByText('paused', { exact: true }).waitFor()
  // What was on its way.
  await page.waitForTimeout(3000)
  let requests = 0
  page.on('request', () => requests++)
  await flows.load('default', { id: 'second', user: 'alice', content: 'x' })
  await page.waitForTimeout(4000)
  t.equal(requests, 0)
  t.equal(await page.getByRole('link', { name: 'second' }).count(), 0)
  await hide(page, false)
  await page.getByRole('link', { name: 'second' }).waitFor()
  t.strictSame(faults, [])
})

t.test('a document asks nothing either', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  await flows.load('default', { id: 'first', user: 'alice', content: 'x' })
  const { page, faults } = await watchedPage(t, url)
  let events = 0
  page.on('request', (request) => (events += Number(request.url().includes('/events'))))
  page.on('requestfailed', (request) => (events -= Number(request.url().includes('/events'))))
  await signIn(page, `${url}/api/v1/inspector#/documents/first`, 'alice')
  await page.getByText('queued', { exact: true }).waitFor()
  await page.waitForTimeout(500)
  t.equal(events, 1)
  await hide(page, true)
  await page.waitForTimeout(2000)
  t.equal(events, 0, 'it holds no connection')
  let requests = 0
  page.on('request', () => requests++)
  await page.waitForTimeout(3000)
  t.equal(requests, 0)
  const runner = flows.run()
  t.teardown(() => runner.stop())
  while ((await flows.stats('default')).done === 0) await page.waitForTimeout(20)
  await hide(page, false)
  await page.getByText('done', { exact: true }).waitFor()
  await page.waitForTimeout(3000)
  const before = requests
  await page.waitForTimeout(4000)
  t.equal(requests, before, 'of what has ended nothing is asked without an event')
  t.strictSame(faults, [])
})

t.test('files that are loaded go on, one after the other', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  const refuse = () => {
    throw new Error('no oars')
  }
  await flows.define({ id: 'broken', maxAttempts: 1, steps: [{ name: 'break', run: refuse }] })
  const { page, faults } = await watchedPage(t, url)
  let events = 0
  page.on('request', (request) => (events += Number(request.url().includes('/events'))))
  page.on('requestfailed', (request) => (events -= Number(request.url().includes('/events'))))
  await signIn(page, `${url}/api/v1/inspector#/documents`, 'alice')
  const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('Dick.') })
  await page.setInputFiles('input[type=file]', [file('first.txt'), file('second.txt')])
  await page.getByLabel('Flow of new ones').selectOption('broken')
  await page.setInputFiles('input[type=file]', [file('third.txt'), file('fourth.txt')])
  await page.locator('.transfers').getByText('queued', { exact: true }).waitFor()
  await page.waitForTimeout(500)
  t.equal(events, 1)
  for (const isHidden of [true, false, true]) {
    await hide(page, isHidden)
    await page.waitForTimeout(2500)
    t.equal(events, isHidden ? 0 : 1, 'no stream is held while it is hidden')
  }
  const runner = flows.run()
  t.teardown(() => runner.stop())
  await page.getByText('no oars').nth(1).waitFor()
  t.equal(await page.getByText('Done: it can be asked.').count(), 2)
  t.equal(events, 0)
  t.match(await flows.stats('default'), { done: 2 })
  t.strictSame(faults, [])
})

t.test('a document whose job is not recorded any more is told as done', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  const steps = [{ name: 'pass', run: () => ({}) }]
  await flows.define({ id: 'forgetful', keepDone: 0, steps })
  const { page } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/documents`, 'alice')
  await page.getByLabel('Flow of new ones').selectOption('forgetful')
  await hide(page, true)
  const file = { name: 'log.txt', mimeType: 'text/plain', buffer: Buffer.from('Dick.') }
  await page.setInputFiles('input[type=file]', [file])
  await page.locator('.transfers').getByText('queued', { exact: true }).waitFor()
  for (let n = 0; n < 200; n++) {
    await flows.load('forgetful', { id: `later-${n}`, user: 'alice', content: 'Tom.' })
  }
  const runner = flows.run()
  t.teardown(() => runner.stop())
  await page.getByText('Done: it can be asked.').waitFor()
  t.strictSame((await flows.jobPage({ document: 'log.txt' })).jobs, [])
})

t.test('throughput is what was done in each second', async (t) => {
  t.strictSame(ratesOf([], 3), [0, 0, 0])
  t.strictSame(ratesOf([{ at: 5, done: 7 }], 3), [0, 0, 0], 'of what was before nothing is known')
  const looks = [
    { at: 0, done: 10 },
    { at: 1500, done: 13 },
    { at: 2500, done: 17 },
    { at: 3000, done: 17 },
  ]
  t.strictSame(ratesOf(looks, 4), [0, 2, 3, 2])
  t.strictSame(ratesOf(looks, 2), [3, 2])
  const paused = [...looks, { at: 600_000, done: 5000 }, { at: 601_000, done: 5003 }]
  t.strictSame(ratesOf(paused, 3), [0, 0, 3], 'a pause is no second in which all was done')
  t.strictSame(ratesOf([...paused, { at: 602_000, done: 0 }], 2), [3, 0], 'of another server')
})

t.test('it looks again by itself where events are held back', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  await flows.define({ id: 'slow', steps: [{ name: 'wait', run: () => ({}) }] })
  const { page, faults } = await watchedPage(t, url)
  // As proxies do that gather an answer before they hand it on.
  await page.route('**/events*', () => undefined)
  await signIn(page, `${url}/api/v1/inspector#/queue`, 'admin')
  const shown = page.getByRole('region', { name: 'slow', exact: true }).getByRole('link')
  await page.getByText('No job fits.').waitFor()
  for (let n = 0; n < 3; n++) {
    await flows.load('slow', { id: `d${n}`, user: 'alice', content: 'x' })
  }
  await shown.filter({ hasText: /^3$/ }).waitFor()
  await page.getByRole('link', { name: 'd2' }).waitFor()
  const runner = flows.run()
  t.teardown(() => runner.stop())
  await page.getByText('done', { exact: true }).nth(3).waitFor()
  const { queued, active, delayed, dead, done } = await flows.stats('slow')
  t.strictSame((await shown.allTextContents()).map(Number), [queued, active, delayed, dead, done])
  t.strictSame(faults, [])
})

t.test('it asks for events again where they were refused', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true })
  const { page } = await watchedPage(t, url)
  await page.route('**/events*', (route) => route.fulfill({ status: 403 }))
  await signIn(page, `${url}/api/v1/inspector#/queue`, 'alice')
  await page.getByText('connecting …').waitFor()
  await page.waitForTimeout(1000)
  await page.unroute('**/events*')
  await page.getByText('live', { exact: true }).waitFor()
})

t.test('flows that come are there, and counts that fail say so', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  const { page } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/queue`, 'admin')
  await page.getByRole('region', { name: 'default', exact: true }).waitFor()
  await flows.define({ id: 'late', steps: [{ name: 'wait', run: () => ({}) }] })
  const late = page.getByRole('region', { name: 'late', exact: true })
  await late.getByRole('link').first().waitFor()
  await page.route(/\/flow\/late\/stats/, (route) => route.fulfill({ status: 500 }))
  await late.getByRole('alert').waitFor()
  await page.unroute(/\/flow\/late\/stats/)
  await late.getByRole('alert').waitFor({ state: 'detached' })
  await flows.remove('late')
  await late.waitFor({ state: 'detached' })
})

t.test('of many flows some are followed', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  for (let n = 0; n < 14; n++) {
    await flows.define({ id: `flow${n}`, steps: [{ name: 'wait', run: () => ({}) }] })
  }
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/queue`, 'admin')
  const tiles = page.locator('.tile')
  await tiles.nth(11).waitFor()
  t.equal(await tiles.count(), 12)
  t.strictSame(await inaccessible(page), [])
  const flow = page.getByRole('combobox', { name: 'Flow' })
  await flow.selectOption('flow9')
  await tiles.nth(1).waitFor({ state: 'detached' })
  t.equal(await page.getByRole('region', { name: 'flow9' }).count(), 1, 'the one that is chosen')
  await flow.selectOption('All flows')
  await page.getByRole('button', { name: 'There are 3 more flows' }).click()
  await tiles.nth(14).waitFor()
  t.equal(
    await focused(page, 'content'),
    'content',
    'the button is gone, and the focus is not with it',
  )
  t.strictSame(faults, [])
})

t.test('it grows while it is read again, and stays where that fails', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  for (let n = 0; n < 1130; n++) {
    await flows.load('default', { id: `d${n}`, user: 'alice', content: 'x' })
  }
  const { page } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/queue`, 'alice')
  await page.getByRole('button', { name: 'Show more' }).focus()
  const rows = page.locator('tbody tr')
  for (let shown = 100; shown <= 1100; shown += 50) {
    await page.keyboard.press('Enter')
    await rows.nth(shown - 1).waitFor()
  }
  t.equal(await focused(page, 'Show more'), 'Show more', 'its button stays')
  await flows.load('default', { id: 'late', user: 'alice', content: 'x' })
  await page.getByRole('link', { name: 'late' }).waitFor()
  t.equal(await rows.count(), 1100, 'as many as were there')
  await page.route(/\/jobs\?/, (route) => route.fulfill({ status: 500 }))
  await page.getByRole('alert').waitFor()
  t.equal(await rows.count(), 1100)
  await page.unroute(/\/jobs\?/)
  await page.getByRole('alert').waitFor({ state: 'detached' })
  t.equal(await rows.count(), 1100)
})

t.test('who changes all that match is told which these are', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  for (const user of ['alice', 'bob']) {
    for (const id of ['one', 'two']) await flows.load('default', { id, user, content: 'x' })
  }
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/queue`, 'admin')
  const dialog = page.getByRole('dialog')
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await page.getByRole('link', { name: 'two' }).first().waitFor()
  await press('Cancel all that match')
  await dialog.getByText('No filter is set: every job of everybody.').waitFor()
  await dialog.getByText('4 jobs fit just now.').waitFor()
  await press('Cancel')
  await press('Retry all that match')
  await dialog.getByText('0 jobs fit just now.').waitFor()
  await press('Cancel')
  await goTo(page, 'queue?document=one')
  await page.getByRole('link', { name: 'two' }).first().waitFor({ state: 'detached' })
  await press('Cancel all that match')
  await dialog.getByText('Of every user.').waitFor()
  t.strictSame(await dialog.locator('dt, dd').allTextContents(), ['Document', 'one'])
  t.strictSame(await inaccessible(page), [])
  await goTo(page, 'queue')
  await page.locator('tbody tr').nth(3).waitFor()
  t.strictSame(await dialog.locator('dt, dd').allTextContents(), ['Document', 'one'])
  await dialog.getByRole('button', { name: 'Cancel all that match' }).click()
  await page.getByText('2 jobs were taken out.').waitFor()
  t.equal((await flows.stats('default')).queued, 2, 'no other')

  const { page: own } = await watchedPage(t, url)
  await signIn(own, `${url}/api/v1/inspector#/queue`, 'bob')
  await own.getByRole('button', { name: 'Cancel all that match' }).click()
  await own.getByText('No filter is set: every job of yours.').waitFor()
  t.strictSame(faults, [])
})

/** As a tab is that nobody looks at. */
async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => ${isHidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
}
