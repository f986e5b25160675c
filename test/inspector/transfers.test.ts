// Cores and documents that go in and out of the page, or do not come that far.

import { readFileSync } from 'node:fs'
import t from 'tap'
import { core, serve } from '../http/fixtures/serving.js'
import { inaccessible, noBrowser, openBrowser, signIn, watchedPage } from './browser.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

const mimeType = 'application/octet-stream'

t.test('a core goes in, comes out as it was, and goes', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const browser = await openBrowser(t)
  const { page, faults } = await watchedPage(t, browser, url)
  // Nobody answers a picker here: without one the file is a download.
  await page.addInitScript('delete globalThis.showSaveFilePicker')
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  const buffer = core('boats', 'alice', 100)
  await page.setInputFiles('input[type=file]', { name: 'boats.core', mimeType, buffer })
  await page.getByRole('rowheader', { name: 'boats' }).waitFor()
  t.equal((await knowledge.stat({ user: 'alice', id: 'boats' }))?.bytes, buffer.length)
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download boats' }).click(),
  ])
  t.equal(saved.suggestedFilename(), 'boats.core')
  t.equal(readFileSync(await saved.path()).compare(buffer), 0, 'the same bytes')
  await page.getByText('Saved.').waitFor()
  await page.getByRole('button', { name: 'Delete boats' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No cores yet.').waitFor()
  t.equal(await knowledge.stat({ user: 'alice', id: 'boats' }), undefined)
  t.strictSame(faults, [])
})

t.test('what earlier downloads went by is swept away, and nothing else', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  await knowledge.import({ user: 'alice', id: 'boats' }, [core('boats', 'alice', 10)])
  const { page, faults } = await watchedPage(t, await openBrowser(t), url)
  await page.addInitScript('delete globalThis.showSaveFilePicker')
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  await page.getByRole('rowheader', { name: 'boats' }).waitFor()
  const names = await page.evaluate<readonly string[]>(`(async () => {
    const hour = 60 * 60_000
    const [old, late] = [Date.now() - hour - 1000, Date.now() - hour / 2]
    const names = ['lorekeep ' + old + ' old', 'lorekeep ' + late + ' late', old + ' foreign']
    const folder = await navigator.storage.getDirectory()
    for (const name of names) await folder.getFileHandle(name, { create: true })
    return names
  })()`)
  await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download boats' }).click(),
  ])
  const kept = await page.evaluate<string[]>(
    `navigator.storage.getDirectory().then((folder) => Array.fromAsync(folder.keys()))`,
  )
  t.notOk(kept.includes(names[0] as string), 'what is old has gone')
  t.ok(
    names.slice(1).every((name) => kept.includes(name)),
    kept.join(),
  )
  t.equal(kept.length, 3, 'and what was handed over now is there for the browser to copy')
  t.strictSame(faults, [])
})

t.test('what is no core is told, with the place', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const { page } = await watchedPage(t, await openBrowser(t), url)
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  const buffer = Buffer.concat([core('cut', 'alice', 100), Buffer.from([0xc1])])
  await page.setInputFiles('input[type=file]', { name: 'cut.core', mimeType, buffer })
  const told = await page.getByRole('alert').textContent()
  t.match(told, /LK_CORE_FORMAT/)
  const at = (buffer.length - 1).toLocaleString('en')
  t.match(told, new RegExp(`At byte ${at}, in message 201\\.`), 'at which byte')
  t.equal(await knowledge.stat({ user: 'alice', id: 'cut' }), undefined)
})

t.test('what one core says and another does not', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  for (const [id, rounds] of [
    ['one', 120],
    ['other', 3],
  ] as const) {
    // The same subjects in both.
    await knowledge.import({ user: 'alice', id }, [core('x', 'alice', rounds)])
  }
  await knowledge.import({ user: 'alice', id: 'other' }, [core('y', 'alice', 1)])
  const { page, faults } = await watchedPage(t, await openBrowser(t), url)
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  await page.getByText('Compare two cores').click()
  await page.getByLabel('One core').fill('one')
  await page.getByLabel('The other').fill('other')
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByText('6 triples are in both.').waitFor()
  await page.getByText('234 triples, the first 100 are shown').waitFor()
  await page.getByText('2 triples', { exact: true }).waitFor()
  t.equal(await page.getByRole('cell', { name: 'y/0' }).count(), 2)
  t.strictSame(await inaccessible(page), [])
  await page.getByLabel('The other').fill('nowhere')
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByText('There is no core nowhere.').waitFor()
  t.strictSame(
    faults.filter((fault) => !/status of 404/.test(fault)),
    [],
  )
})

t.test('documents go through the flow that was chosen', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  await flows.define({ id: 'letters', steps: [{ name: 'read', run: () => ({}) }] })
  const { page, faults } = await watchedPage(t, await openBrowser(t), url)
  await signIn(page, `${url}/api/v1/inspector#/documents`, 'alice')
  await page.getByLabel('Flow of new ones').selectOption('letters')
  const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('Dick rowed.') }
  await page.setInputFiles('input[type=file]', file)
  while ((await flows.stats('letters')).queued === 0) await page.waitForTimeout(20)
  t.match(await flows.stats('default'), { queued: 0, done: 0 })
  t.strictSame(faults, [])
})

t.test('a document is replaced by another file', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  const runner = flows.run()
  t.teardown(() => runner.stop())
  const { job } = await flows.load('default', {
    ...{ id: 'ferry', user: 'alice', collection: 'river' },
    content: 'Dick rowed.\n\n\n\nBob sang.',
  })
  while ((await flows.job(job))?.state !== 'done') await new Promise((next) => setTimeout(next, 20))
  const { page, faults } = await watchedPage(t, await openBrowser(t), url)
  await signIn(page, `${url}/api/v1/inspector#/documents/ferry`, 'alice')
  const text = page.locator('.reading')
  await text.getByText('Dick rowed.').waitFor()
  t.match(await text.textContent(), 'Dick rowed.\n\nBob sang.', 'without room that pages had')
  t.strictSame(await inaccessible(page), [])
  const file = { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('Ellen rowed.') }
  await page.setInputFiles('input[type=file]', file)
  await text.getByText('Ellen rowed.').waitFor()
  const { completed } = (await flows.document({ user: 'alice', document: 'ferry' })) ?? {}
  t.match(completed, { flow: 'default', collection: 'river' })
  t.not(completed?.job, job)
  t.equal(await flows.document({ user: 'alice', document: 'b.txt' }), undefined)
  await page.evaluate(`location.hash = '#/documents/nothing'`)
  await page.getByText('There is no such document.').waitFor()
  t.equal(await page.locator('main').getByRole('button').count(), 0, 'nothing to replace')
  t.strictSame(
    faults.filter((fault) => !/status of 404/.test(fault)),
    [],
  )
})

t.test('who cancels a core leaves nothing', { skip }, async (t) => {
  // Some forty seconds' worth.
  const { url, knowledge } = await serve(t, {
    inspector: true,
    maxUserBytesPerSecond: 128 * 1024,
  })
  const { page } = await watchedPage(t, await openBrowser(t), url)
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  const buffer = Buffer.concat(Array.from({ length: 6 }, () => core('long', 'alice', 1500)))
  t.ok(buffer.length > 5_000_000)
  await page.setInputFiles('input[type=file]', { name: 'long.core', mimeType, buffer })
  await page.getByRole('progressbar').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Cancelled: nothing of it is stored.').waitFor()
  t.equal(await knowledge.stat({ user: 'alice', id: 'long' }), undefined)
})

t.test('who cancels a document takes its job out', { skip }, async (t) => {
  // Nothing runs: it waits.
  const { url, flows } = await serve(t, { inspector: true })
  const { page, faults } = await watchedPage(t, await openBrowser(t), url)
  await signIn(page, `${url}/api/v1/inspector#/documents`, 'alice')
  const file = { name: 'late.txt', mimeType: 'text/plain', buffer: Buffer.from('Dick rowed.') }
  await page.setInputFiles('input[type=file]', file)
  while ((await flows.stats('default')).queued === 0) await page.waitForTimeout(20)
  await page.locator('.transfers').getByText('queued', { exact: true }).waitFor()
  t.equal(await page.getByRole('progressbar').getAttribute('value'), null, 'nobody knows how long')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Cancelled.').waitFor()
  t.match(await flows.stats('default'), { queued: 0, done: 0 })
  t.strictSame(faults, [])
})

t.test('by the keyboard alone', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true })
  const { page, faults } = await watchedPage(t, await openBrowser(t), url)
  await page.goto(`${url}/api/v1/inspector`)
  await page.getByLabel('Token').waitFor()
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  const until = async (text: string) => {
    for (let n = 0; n < 30 && (await focused()) !== text; n++) await page.keyboard.press('Tab')
    t.equal(await focused(), text)
  }
  await page.keyboard.type('alice')
  await page.keyboard.press('Enter')
  await page.getByRole('navigation').waitFor()
  await until('Cores')
  await page.keyboard.press('Enter')
  await page.getByText('No cores yet.').waitFor()
  await until('Choose files')
  await until('To the content')
  await page.keyboard.press('Enter')
  t.equal(await page.evaluate('document.activeElement.id'), 'content')
  await until('Sign out')
  await page.keyboard.press('Enter')
  await page.getByLabel('Token').waitFor()
  t.strictSame(faults, [])
})
