// How the server is, as the page shows it, and a backup of all of it onto a disk.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep, restore } from '../../src/index.js'
import { core, serve } from '../http/fixtures/serving.js'
import { Measures } from '../../src/inspector/measures.js'
import { inaccessibleByDayAndNight, noBrowser, signIn, watchedPage } from './browser.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

t.test('what Prometheus is told is read back', async (t) => {
  const measures = new Measures(
    [
      '# HELP x_total Of x.',
      '# TYPE x_total counter',
      'x_total{flow="a \\"b\\"\\\\,\\n",state="done"} 2',
      'x_total{flow="c",state="done"} 3.5e+1',
      'free 7',
      'x_bucket{le="+Inf"} +Inf',
      '',
    ].join('\n'),
  )
  t.equal(measures.sum('x_total'), 37)
  t.equal(
    measures.sum('x_total', ({ flow }) => flow === 'a "b"\\,\n'),
    2,
  )
  t.equal(measures.sum('free'), 7)
  t.equal(measures.sum('x_bucket'), Infinity)
  t.equal(measures.sum('none'), undefined)
  t.strictSame(measures.labels('x_total', 'flow'), ['a "b"\\,\n', 'c'])
})

t.test('shows what the server tells, and saves a backup', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const bytes = core('boats', 'alice', 100)
  await knowledge.import({ user: 'alice', id: 'boats' }, [bytes], { index: true })
  const { page, faults } = await watchedPage(t, url)
  await page.addInitScript('delete globalThis.showSaveFilePicker')
  await signIn(page, `${url}/api/v1/inspector#/health`, 'admin')
  await page.getByText('ready', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'Caches' }).getByText('graph').waitFor()
  await page.getByText(process.version).waitFor()
  await page.getByText('counted from the first look').waitFor()
  await page.getByLabel('User').fill('alice')
  await page.getByLabel('User').press('Enter')
  await page.getByRole('heading', { name: 'Index of alice' }).waitFor()
  t.strictSame(await inaccessibleByDayAndNight(page), [])
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save a backup' }).click(),
  ])
  await page.getByText('Saved.').waitFor()
  const backend = new MemoryBackend()
  await restore(backend, await saved.path())
  const again = await createLorekeep({ backend })
  t.equal((await again.knowledge.stat({ user: 'alice', id: 'boats' }))?.bytes, bytes.length)
  await again.close()
  t.strictSame(faults, [])
})

t.test('who may not see all sees neither measures nor a backup', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/health`, 'alice')
  await page.getByText('ready', { exact: true }).waitFor()
  await page.getByText('Your index').waitFor()
  t.equal(await page.getByRole('region', { name: 'Caches' }).count(), 0)
  t.equal(await page.getByRole('button', { name: 'Save a backup' }).count(), 0)
  t.strictSame(faults, [])
})

t.test('a server without metrics is told to be one', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true, metrics: false })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/health`, 'admin')
  await page.getByText('The server measures nothing of itself').waitFor()
  t.strictSame(faults, [])
})

t.test('a backup that is cancelled leaves no file', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const bytes = Buffer.concat(Array.from({ length: 60 }, () => core('long', 'alice', 1500)))
  await knowledge.import({ user: 'alice', id: 'long' }, [bytes])
  const { page, faults } = await watchedPage(t, url)
  await page.addInitScript('delete globalThis.showSaveFilePicker')
  await signIn(page, `${url}/api/v1/inspector#/health`, 'admin')
  let downloads = 0
  page.on('download', () => downloads++)
  await page.getByRole('button', { name: 'Save a backup' }).click()
  await page.getByRole('progressbar').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Cancelled.').waitFor()
  const left = `navigator.storage.getDirectory().then((folder) => Array.fromAsync(folder.keys()))`
  t.strictSame(await page.evaluate(left), [])
  t.equal(downloads, 0)
  t.strictSame(faults, [])
})
