// Cores and documents that go in and out of the page, or do not come that far.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import t from 'tap'
import { core, listen, serve } from '../http/fixtures/serving.js'
import { focused, inaccessible, noBrowser, signIn, watchedPage } from './browser.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

const mimeType = 'application/octet-stream'

t.test('a core goes in, comes out as it was, and goes', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const { page, faults } = await watchedPage(t, url)
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
  const { page, faults } = await watchedPage(t, url, { isAlone: true })
  await page.addInitScript('delete globalThis.showSaveFilePicker')
  await page.goto(`${url}/api/v1/inspector#/cores`)
  // One of another program's, and one that somebody writes.
  await page.evaluate(`(async () => {
    const folder = await navigator.storage.getDirectory()
    for (const name of ['lorekeep 1 old', 'foreign', 'lorekeep 2 busy'])
      globalThis.last = await folder.getFileHandle(name, { create: true })
    globalThis.writer = await globalThis.last.createWritable()
  })()`)
  const kept = async () => {
    const names = await page.evaluate<string[]>(
      `navigator.storage.getDirectory().then((folder) => Array.fromAsync(folder.keys()))`,
    )
    return names.filter((name) => !name.startsWith('lorekeep 2 busy')).sort()
  }
  const until = async (names: RegExp) => {
    for (let n = 0; n < 100 && !names.test((await kept()).join()); n++)
      await page.waitForTimeout(50)
    t.match((await kept()).join(), names)
  }
  const download = async () => {
    await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download boats' }).click(),
    ])
    await page.getByText('Saved.').last().waitFor()
  }
  const minutes = 60_000
  const begun = Date.now()
  await page.clock.setSystemTime(begun + 40 * minutes)
  await signInHere()
  await download()
  await until(/^foreign,lorekeep 1 old,lorekeep \d+ boats\.core$/)
  await page.clock.setSystemTime(begun + 70 * minutes)
  await download()
  await until(/^foreign,lorekeep \d+ boats\.core$/)
  await page.clock.setSystemTime(begun + 2 * minutes)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  await until(/^foreign,lorekeep \d+ boats\.core$/)
  await signInHere()
  await page.clock.setSystemTime(begun + 7 * minutes)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await until(/^foreign$/)
  t.strictSame(faults, [])

  async function signInHere(): Promise<void> {
    await page.getByLabel('Token').fill('alice')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation').waitFor()
    await page.evaluate(`location.hash = '#/cores'`)
    await page.getByRole('rowheader', { name: 'boats' }).waitFor()
  }
})

t.test('a page that is opened sweeps, too', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true })
  const { page } = await watchedPage(t, url, { isAlone: true })
  await page.goto(`${url}/api/v1/inspector`)
  await page.evaluate(`navigator.storage.getDirectory().then((folder) =>
    folder.getFileHandle('lorekeep 1 old', { create: true }))`)
  await page.clock.setSystemTime(Date.now() + 70 * 60_000)
  await page.reload()
  const isThere = () =>
    page.evaluate<boolean>(`navigator.storage.getDirectory().then(async (folder) =>
      (await Array.fromAsync(folder.keys())).length > 0)`)
  for (let n = 0; n < 100 && (await isThere()); n++) await page.waitForTimeout(50)
  t.notOk(await isThere())
})

t.test('what a browser does not have is done without', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const id = 'война и мир 日本'
  const buffer = core(id, 'alice', 10)
  await knowledge.import({ user: 'alice', id }, [buffer])
  const refuse = `() => Promise.reject(new DOMException('no', 'SecurityError'))`
  for (const [what, script] of [
    ['no folder', `navigator.storage.getDirectory = ${refuse}`],
    ['no writing', `delete FileSystemFileHandle.prototype.createWritable`],
    ['a picker that refuses', ''],
  ] as const) {
    const { page, faults } = await watchedPage(t, url)
    await page.addInitScript(
      script === ''
        ? `globalThis.showSaveFilePicker = ${refuse}`
        : `delete globalThis.showSaveFilePicker; ${script}`,
    )
    await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: `Download ${id}` }).click(),
    ])
    t.equal(saved.suggestedFilename(), `${id}.core`, what)
    t.equal(readFileSync(await saved.path()).compare(buffer), 0, what)
    await page.getByText('Saved.').waitFor()
    t.strictSame(faults, [], what)
  }
})

t.test('a core that is there is replaced, added to or left, as is said', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  const buffer = core('boats', 'alice', 10)
  const sizeOf = async (id: string) => (await knowledge.stat({ user: 'alice', id }))?.bytes
  const drop = async (name: string, content = buffer) =>
    page.setInputFiles('input[type=file]', { name, mimeType, buffer: content })
  const dismiss = () => page.getByRole('button', { name: 'Dismiss' }).first().click()
  const asked = page.getByText('There is a core boats already.')
  await drop('boats.core')
  await page.getByText('20 triples, 10 vectors').waitFor()
  await dismiss()
  await drop('boats.bin')
  await asked.waitFor()
  await drop('late.core')
  await page.getByText('Waits for those above it.').waitFor()
  t.strictSame(await inaccessible(page), [])
  t.equal(await page.getByRole('progressbar').count(), 0, 'nothing goes meanwhile')
  await page.getByRole('button', { name: 'Cancel', exact: true }).first().click()
  await page.getByText('Cancelled: nothing of it is stored.').waitFor()
  await page.getByText('20 triples, 10 vectors').waitFor()
  t.equal(await sizeOf('boats'), buffer.length)
  await dismiss()
  await dismiss()
  const other = core('boats', 'alice', 3)
  await drop('boats.core', other)
  await page.getByRole('button', { name: 'Add to it' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('6 triples, 3 vectors').waitFor()
  t.equal(await focused(page, 'Dismiss'), 'Dismiss', 'who answers by keyboard goes on from there')
  t.equal(await sizeOf('boats'), buffer.length + other.length)
  await page.keyboard.press('Enter')
  await page.getByText('6 triples, 3 vectors').waitFor({ state: 'detached' })
  t.equal(await focused(page, 'content'), 'content')
  await drop('boats.core', other)
  await page.getByRole('button', { name: 'Replace it' }).click()
  await page.getByText('6 triples, 3 vectors').waitFor()
  t.equal(await sizeOf('boats'), other.length)
  await dismiss()
  await drop('.core')
  await page.getByRole('rowheader', { name: '.core' }).waitFor()
  t.strictSame(
    faults.filter((fault) => !/status of 404/.test(fault)),
    [],
  )
})

t.test('who cancels a core that is stored is told so', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const { page } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  // The server has all of it, and its answer does not come.
  await page.route('**/import-core*', async (route) => void (await route.fetch()))
  const buffer = core('late', 'alice', 10)
  await page.setInputFiles('input[type=file]', { name: 'late.core', mimeType, buffer })
  while ((await knowledge.stat({ user: 'alice', id: 'late' })) === undefined)
    await page.waitForTimeout(20)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('It had all been sent when it was cancelled: it is stored.').waitFor()
  await page.getByRole('rowheader', { name: 'late' }).waitFor()
})

t.test('who cancels a core that may be stored yet is told so', { skip }, async (t) => {
  const { handler, knowledge } = await serve(t, { inspector: true })
  // All of it arrives, and nothing is made of it yet.
  const server = createServer((request, response) => {
    if (request.url?.includes('import-core')) request.resume()
    else void handler(request, response)
  })
  const url = `http://127.0.0.1:${await listen(t, server)}`
  const { page } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  const buffer = core('late', 'alice', 10)
  await page.setInputFiles('input[type=file]', { name: 'late.core', mimeType, buffer })
  await page.getByText(/^(.+) of \1$/).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('the server may store it yet').waitFor()
  t.equal(await knowledge.stat({ user: 'alice', id: 'late' }), undefined)
})

t.test('what is no core is told, with the place', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const { page } = await watchedPage(t, url)
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
  const { page, faults } = await watchedPage(t, url)
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
  const { page, faults } = await watchedPage(t, url)
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
  const { page, faults } = await watchedPage(t, url)
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
  const { page } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  const buffer = Buffer.concat(Array.from({ length: 6 }, () => core('long', 'alice', 1500)))
  t.ok(buffer.length > 5_000_000)
  await page.setInputFiles('input[type=file]', { name: 'long.core', mimeType, buffer })
  await page.getByRole('progressbar').waitFor()
  const told = page.locator('.transfers [aria-live]')
  t.equal(await page.locator('[aria-live] progress').count(), 0, 'what changes is not read out')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await told.getByText('Cancelled: nothing of it is stored.').waitFor()
  t.equal(await knowledge.stat({ user: 'alice', id: 'long' }), undefined)
})

t.test('who cancels a document takes its job out', { skip }, async (t) => {
  // Nothing runs: it waits.
  const { url, flows } = await serve(t, { inspector: true })
  const { page, faults } = await watchedPage(t, url)
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

t.test('who signs out takes it out, too', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/documents`, 'alice')
  const file = { name: 'late.txt', mimeType: 'text/plain', buffer: Buffer.from('Dick rowed.') }
  await page.setInputFiles('input[type=file]', file)
  await page.locator('.transfers').getByText('queued', { exact: true }).waitFor()
  t.equal((await flows.stats('default')).queued, 1)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  for (let n = 0; n < 200 && (await flows.stats('default')).queued > 0; n++)
    await page.waitForTimeout(50)
  t.equal((await flows.stats('default')).queued, 0)
  t.strictSame(faults, [])
})

t.test('a job of which nobody has heard yet is cancelled, too', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  const { page } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/documents`, 'alice')
  await page.route('**/file-load*', async (route) => {
    const response = await route.fetch()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await route.fulfill({ response })
  })
  const file = { name: 'late.txt', mimeType: 'text/plain', buffer: Buffer.from('Dick rowed.') }
  await page.setInputFiles('input[type=file]', file)
  await page.getByText('Cancelled.').waitFor()
  t.match(await flows.stats('default'), { queued: 0, done: 0 })
  // And where it cannot be, that is said.
  await page.unroute('**/file-load*')
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await page.route('**/jobs/*', (route) =>
    route.request().method() === 'DELETE' ? route.abort() : route.continue(),
  )
  await page.setInputFiles('input[type=file]', file)
  await page.locator('.transfers').getByText('queued', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('alert').waitFor()
  t.equal(await page.getByText('Cancelled.').count(), 0)
  t.match(await flows.stats('default'), { queued: 1 })
})

t.test('a document of the same name is replaced where somebody says so', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  const { page } = await watchedPage(t, url)
  await flows.load('default', { id: 'a.txt', user: 'alice', content: 'Dick rowed.' })
  await signIn(page, `${url}/api/v1/inspector#/documents`, 'alice')
  const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('Ellen rowed.') }
  // It is sent, and not read before.
  await page.evaluate('Blob.prototype.arrayBuffer = Blob.prototype.bytes = undefined')
  await page.setInputFiles('input[type=file]', file)
  await page.getByText('There is a document a.txt already').waitFor()
  t.match(await flows.stats('default'), { queued: 1 })
  t.strictSame(await inaccessible(page), [])
  await page.getByRole('button', { name: 'Replace it' }).click()
  const runner = flows.run()
  t.teardown(() => runner.stop())
  await page.getByText('Done: it can be asked.').waitFor()
  await page.getByRole('link', { name: 'a.txt' }).click()
  await page.locator('.reading').getByText('Ellen rowed.').waitFor()
})

t.test('what is on its way outlives its view, and keeps the page', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, {
    inspector: true,
    maxUserBytesPerSecond: 128 * 1024,
  })
  const { page } = await watchedPage(t, url)
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.dismiss()
  })
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  await page.getByText('No cores yet.').waitFor()
  const dropped = (at: string, kind: string) =>
    page.evaluate<boolean>(`(() => {
      const dataTransfer = new DataTransfer()
      if (${kind === 'file'}) dataTransfer.items.add(new File(['x'], 'x.txt'))
      else dataTransfer.setData('text/plain', 'x')
      const given = { dataTransfer, bubbles: true, cancelable: true }
      return ['dragover', 'drop'].every((type) =>
        !document.querySelector('${at}').dispatchEvent(new DragEvent(type, given)))
    })()`)
  t.ok(await dropped('h1', 'file'), 'a file beside its place takes the page nowhere')
  t.notOk(await dropped('.filters input', 'text'), 'a text goes where it goes')
  const buffer = Buffer.concat(Array.from({ length: 6 }, () => core('long', 'alice', 1500)))
  await page.setInputFiles('input[type=file]', { name: 'long.core', mimeType, buffer })
  await page.getByRole('progressbar').waitFor()
  await page.evaluate(`location.hash = '#/queue'`)
  await page.getByText('No job fits.').waitFor()
  t.equal(await page.getByRole('progressbar').count(), 0)
  await page.reload({ timeout: 2000 }).catch(() => undefined)
  t.strictSame(asked, ['beforeunload'])
  await page.evaluate(`location.hash = '#/cores'`)
  await page.getByRole('progressbar').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText(/^Cancelled|^It had all been sent/).waitFor()
  t.equal(await knowledge.stat({ user: 'alice', id: 'long' }), undefined)
  await page.reload()
  await page.getByLabel('Token').waitFor()
  t.strictSame(asked, ['beforeunload'], 'nobody is asked where nothing is on its way')
})

t.test('a long document is read page by page', { skip }, async (t) => {
  const { url, flows } = await serve(t, { inspector: true })
  const runner = flows.run()
  t.teardown(() => runner.stop())
  await flows.define({
    id: 'short',
    steps: [{ name: 'chunk', options: { size: 32, overlap: 8 } }, 'store', 'index'],
  })
  const sentences = Array.from({ length: 500 }, (_, n) => `The boat ${n} left the shore.`)
  const { job } = await flows.load('short', {
    id: 'log',
    user: 'alice',
    content: sentences.join(' '),
  })
  while ((await flows.job(job))?.state !== 'done') await new Promise((next) => setTimeout(next, 20))
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/documents/log`, 'alice')
  const text = page.locator('.reading')
  await text.getByText('The boat 0').waitFor()
  const read = async () => ((await text.textContent()) ?? '').match(/boat \d+/g) ?? []
  const wanted = sentences.map((_, n) => `boat ${n}`)
  const first = await read()
  t.ok(first.length > 50 && first.length < 500, `${first.length} at first`)
  t.strictSame(first, wanted.slice(0, first.length), 'from the beginning, without holes')
  t.match(await text.locator('p').nth(1).textContent(), /^\S/, 'in line with the others')
  await page.getByText(`The first 200 of`).waitFor()
  for (let n = 0; n < 10; n++) {
    const more = page.getByRole('button', { name: 'Show more' })
    if ((await more.count()) === 0) break
    const [before] = [(await read()).length]
    await more.click()
    while ((await read()).length === before) await page.waitForTimeout(20)
  }
  t.strictSame(await read(), wanted, 'all of it, each once')
  const bare = (text: string) => text.replace(/\s/g, '')
  t.equal(bare((await text.textContent()) ?? ''), bare(sentences.join('')), 'and no word twice')
  t.strictSame(faults, [])
})

t.test('by the keyboard alone', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true })
  const { page, faults } = await watchedPage(t, url)
  await page.goto(`${url}/api/v1/inspector`)
  await page.getByLabel('Token').waitFor()
  const until = async (text: string) => {
    for (let n = 0; n < 30 && (await focused(page)) !== text; n++) await page.keyboard.press('Tab')
    t.equal(await focused(page), text)
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
  t.equal(await focused(page, 'content'), 'content')
  await until('Sign out')
  await page.keyboard.press('Enter')
  await page.getByLabel('Token').waitFor()
  t.strictSame(faults, [])
})
