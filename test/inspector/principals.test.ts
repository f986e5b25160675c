// What two principals see of each other, and what one that may only read is offered: nothing that the server would
// refuse. That it does refuse is in test/http/gates.test.ts, for every route.

import t from 'tap'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { createSparql } from '../../src/sparql/index.js'
import { serve } from '../http/fixtures/serving.js'
import { noBrowser, signIn, watchedPage } from './browser.js'
import { goTo, placesOf, storeThings } from './things.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

const authenticate = (token: string | undefined) => {
  if (token === 'reader') return { user: 'alice', access: 'read' } as const
  if (token === 'auditor') return { user: '*', access: 'read' } as const
  if (token === 'guest') return { user: 'guest', shared: ['default'] }
  if (token === 'admin') return { user: '*' }
  return token === 'bob' || token === 'alice' ? { user: token } : null
}

async function withThings(t: Test) {
  const serving = await serve(t, { inspector: true, authenticate, defaultUser: 'alice' })
  return { ...serving, ...(await storeThings(t, serving.lorekeep)) }
}

t.test('neither of two sees what is the other’s', { skip }, async (t) => {
  const { url, job } = await withThings(t)
  const pages = new Map<string, Awaited<ReturnType<typeof watchedPage>>>()
  for (const token of ['alice', 'bob']) {
    const watched = await watchedPage(t, url)
    await signIn(watched.page, `${url}/api/v1/inspector`, token)
    pages.set(token, watched)
  }
  const [alice, bob] = [pages.get('alice')?.page as Page, pages.get('bob')?.page as Page]
  for (const [place, seen] of Object.entries(placesOf(job))) {
    await goTo(alice, place)
    await alice.getByText(seen).first().waitFor()
    t.match(await alice.getByRole('main').textContent(), /of-alice|Alice/, place)
    await goTo(bob, place)
    await bob.locator('main h1').waitFor()
    await bob.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined)
    await bob.getByText('Loading …').first().waitFor({ state: 'detached' })
    const text = (await bob.getByRole('main').textContent()) ?? ''
    // What is in the address he wrote himself.
    t.notMatch(text.replace('of-alice', ''), /of-alice|Alice/, place)
    await goTo(bob, '')
  }
  for (const [token, { faults }] of pages) {
    t.strictSame(
      faults.filter((fault) => !/status of 404/.test(fault)),
      [],
      token,
    )
  }
})

t.test('a server has the views of its stores', { skip }, async (t) => {
  const { lorekeep } = await serve(t)
  const none = { knowledge: undefined, objects: undefined, flows: undefined }
  for (const [names, views] of [
    [['knowledge'], ['Ask', 'Graph', 'SPARQL', 'Cores', 'Health']],
    [['flows'], ['Documents', 'Queue', 'Health']],
    [['objects'], ['Objects', 'Health']],
  ] as const) {
    const stores = Object.fromEntries(names.map((name) => [name, lorekeep[name]]))
    const { url } = await serve(t, { inspector: true, ...none, ...stores })
    const { page, faults } = await watchedPage(t, url)
    await signIn(page, `${url}/api/v1/inspector`, 'alice')
    const links = page.getByRole('navigation').getByRole('link')
    t.strictSame(await links.allTextContents(), views)
    for (const view of views) {
      await links.getByText(view, { exact: true }).click()
      await page.getByRole('heading', { name: view, level: 1 }).waitFor()
      await page.getByText('Loading …').first().waitFor({ state: 'detached' })
      await page.waitForLoadState('networkidle', { timeout: 2000 }).catch(() => undefined)
      t.equal(await page.getByRole('alert').count(), 0, `${names}: ${view}`)
    }
    await goTo(page, 'queue')
    await page.getByRole('heading', { level: 1 }).waitFor()
    t.strictSame(faults, [], names.join())
  }
})

t.test('a file goes to a server that has flows alone', { skip }, async (t) => {
  const { lorekeep } = await serve(t)
  const { flows } = lorekeep
  await flows.define({ id: 'letters', steps: [{ name: 'read', run: () => ({}) }] })
  const runner = flows.run({ flows: ['letters'] })
  t.teardown(() => runner.stop())
  const other = { knowledge: undefined, objects: undefined, flows }
  const { url } = await serve(t, { inspector: true, ...other })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/documents`, 'alice')
  await page.getByLabel('Flow of new ones').selectOption('letters')
  const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('Dick rowed.') }
  await page.setInputFiles('input[type=file]', file)
  await page.getByText('Done').first().waitFor()
  t.equal(await page.getByRole('link', { name: 'Ask' }).count(), 0)
  await goTo(page, 'documents/a.txt')
  await page.getByRole('heading', { name: 'Jobs' }).waitFor()
  t.equal(await page.getByRole('heading', { name: 'Passages' }).count(), 0)
  t.strictSame(faults, [])
})

t.test('what others share is not offered to be changed', { skip }, async (t) => {
  const { url, objects } = await withThings(t)
  const metadata = { id: 'batch', user: 'guest', collection: 'default' }
  await objects.import({ metadata, schema_name: 'boats', values: [{ id: 'b2', name: 'own' }] })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/objects`, 'guest')
  await page.getByText('2 objects').waitFor()
  const buttons = page.getByRole('row').getByRole('button')
  t.strictSame(await buttons.allTextContents(), ['Edit b2', 'Delete b2'])
  t.strictSame(faults, [])
})

t.test('a token for several collections asks them one by one', { skip }, async (t) => {
  const { url, flows, objects } = await serve(t, {
    inspector: true,
    sparql: createSparql(),
    authenticate: (token) => ({
      ...{ user: 'alice', collections: token === 'one' ? ['sea'] : ['river', 'sea'] },
    }),
  })
  const runner = flows.run()
  t.teardown(() => runner.stop())
  await objects.defineSchema({ name: 'boats', fields: { name: { type: 'string' } } })
  for (const [id, collection, content] of [
    ['ferry', 'river', 'Dick rowed the boat.'],
    ['ship', 'sea', 'Ellen rowed the boat.'],
  ] as const) {
    const { job } = await flows.load('default', { id, user: 'alice', collection, content })
    while ((await flows.job(job))?.state !== 'done')
      await new Promise((next) => setTimeout(next, 20))
  }
  const { page, faults } = await watchedPage(t, url)
  const main = page.getByRole('main')
  const see = async (place: string, seen: string) => {
    await goTo(page, place)
    await main.getByText(seen).first().waitFor()
    t.equal(await main.getByRole('alert').count(), 0, place)
  }
  await signIn(page, `${url}/api/v1/inspector`, 'several')
  await see('ask?q=who+rowed+the+boat', 'Dick rowed')
  t.equal(await main.getByText('Ellen rowed').count(), 0, 'of one alone')
  const lines = await page.locator('.snippet pre').allTextContents()
  t.equal(lines.length, 3)
  for (const line of lines) t.match(line, /collection"?:? ?['"]*river/, line)
  const select = page.getByRole('combobox', { name: 'Collection', exact: true })
  await select.selectOption('sea')
  await main.getByText('Ellen rowed').first().waitFor()
  t.equal(await main.getByText('Dick rowed').count(), 0)
  const query = 'SELECT ?t { ?s <https://schema.org/text> ?t }'
  await see(`sparql?query=${encodeURIComponent(query)}`, '1 result in')
  await see('documents/ship', 'Ellen rowed the boat.')
  await see('documents/ferry', 'Dick rowed the boat.')
  await goTo(page, 'cores')
  await page.getByText('Compare two cores').click()
  await page.getByLabel('One core').fill('ferry')
  await page.getByLabel('The other').fill('ship')
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByText(/triples? (?:is|are) in both/).waitFor()
  t.strictSame(faults, [])

  const one = await watchedPage(t, url)
  await signIn(one.page, `${url}/api/v1/inspector#/documents`, 'one')
  t.equal(await one.page.getByLabel('Collection', { exact: true }).count(), 0, 'nothing to choose')
  const file = { name: 'raft', mimeType: 'text/plain', buffer: Buffer.from('Bob rowed.') }
  await one.page.setInputFiles('input[type=file]', file)
  await one.page.getByText('Done: it can be asked.').waitFor()
  const raft = await flows.document({ user: 'alice', document: 'raft' })
  t.equal(raft?.completed?.collection, 'sea')
  await goTo(one.page, 'objects')
  await one.page.getByRole('button', { name: 'New object' }).click()
  const dialog = one.page.getByRole('dialog')
  t.equal(await dialog.getByLabel('Collection').inputValue(), 'sea')
  await dialog.getByLabel('JSON').fill('{"id": "b1", "name": "raft"}')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await one.page.getByRole('rowheader', { name: 'b1' }).waitFor()
  t.match(await objects.get('sea', 'b1'), { name: 'raft' })
  t.strictSame(one.faults, [])
})

const changing = /Delete|Replace|Choose|Retry|Cancel|Edit|New object|Start|Stop/

t.test('who may only read has no buttons that change anything', { skip }, async (t) => {
  const { url, job } = await withThings(t)
  const offered = async (token: string, all: Readonly<Record<string, string>>) => {
    const { page, faults } = await watchedPage(t, url)
    await signIn(page, `${url}/api/v1/inspector`, token)
    const found: Record<string, readonly string[]> = {}
    for (const [place, seen] of Object.entries(all)) {
      await goTo(page, place)
      await page.getByText(seen).first().waitFor()
      await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined)
      const main = page.getByRole('main')
      found[place] = await main.getByRole('button').allTextContents()
      t.equal(
        await main.locator('input[type=file]').count(),
        /^(cores|documents)/.test(place) && !isReader(token) ? 1 : 0,
        `${token} at ${place}: a place for files`,
      )
    }
    t.strictSame(faults, [], token)
    return found
  }
  const isReader = (token: string) => token === 'reader' || token === 'auditor'
  for (const [owner, reader, more] of [
    ['alice', 'reader', {}],
    ['admin', 'auditor', { health: 'Caches' }],
  ] as const) {
    const all = { ...placesOf(job), ...more }
    const [owners, readers] = [await offered(owner, all), await offered(reader, all)]
    for (const place of Object.keys(all)) {
      const kept = owners[place]?.filter((name) => !changing.test(name))
      t.strictSame(readers[place], kept, `${reader} at ${place}`)
    }
    const changes = Object.keys(all).filter((place) => owners[place]?.some(isChange))
    t.ok(changes.length >= 6, `there is much to change for ${owner}: ${changes.join(', ')}`)
  }
})

const isChange = (name: string) => changing.test(name)
