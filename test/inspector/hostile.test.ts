// Names, texts and errors that somebody else wrote are shown as text: nothing in them runs, or breaks the page.

import t from 'tap'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { createSparql } from '../../src/sparql/index.js'
import { serve } from '../http/fixtures/serving.js'
import { boats, dick, iri, knows, type, write } from './boats.js'
import { noBrowser, signIn, watchedPage } from './browser.js'
import { goTo } from './things.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

const attack = `"'><img src=x onerror="hit=1"><script>hit=1</script>`
const mirrored = '\u202eevil\u2066'

t.test('hostile content everywhere', { skip }, async (t) => {
  const { url, flows, objects } = await serve(t, { inspector: true })
  const id = `${attack}${mirrored}`
  await flows.define({
    id: 'f',
    maxAttempts: 1,
    steps: [
      {
        name: 'break',
        run: () => {
          throw new Error(`${attack} ${'long'.repeat(5_000)}`)
        },
      },
    ],
  })
  const runner = flows.run()
  t.teardown(() => runner.stop())
  const text = `${attack} Dick${mirrored} rowed. ${'A'.repeat(100_000)}`
  await flows.load('default', { id, user: 'alice', content: text })
  await flows.load('f', { id: `${id} dead`, user: 'alice', content: 'x' })
  await objects.defineSchema({ name: 'things', fields: { [attack]: { type: 'string' } } })
  const metadata = { id: 'batch', user: 'alice', collection: 'default' }
  await objects.import({
    metadata,
    schema_name: 'things',
    values: [{ id: attack, [attack]: `javascript:alert(1)${attack}${'B'.repeat(1_000_000)}` }],
  })
  for (;;) {
    const done = await flows.document({ user: 'alice', document: id })
    const dead = await flows.jobPage({ state: 'dead' })
    if (done?.completed !== undefined && dead.jobs.length === 1) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector`, 'alice')
  const [dead] = (await flows.jobPage({ state: 'dead' })).jobs
  const places = [
    'queue',
    `queue/${dead?.id}`,
    'documents',
    `documents/${encodeURIComponent(id)}`,
    'cores',
    'objects',
    `ask?q=${encodeURIComponent(`rowed ${attack}`)}`,
  ]
  for (const place of places) {
    await goTo(page, place)
    await page.getByText('onerror').first().waitFor()
    await harmless(t, page, place)
  }
  t.strictSame(faults, [])
})

t.test('an object that is edited, and what its schema says of it', { skip }, async (t) => {
  const { url, objects } = await serve(t, { inspector: true })
  const [field, long] = [`${attack}${mirrored}`, 'B'.repeat(1_000_000)]
  await objects.defineSchema({
    name: 'things',
    fields: { [field]: { type: 'string', required: true } },
  })
  const metadata = { id: 'batch', user: 'alice', collection: 'default' }
  const values = [{ id: attack, [field]: `javascript:alert(1)${long}` }]
  await objects.import({ metadata, schema_name: 'things', values })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/objects`, 'alice')
  const dialog = page.getByRole('dialog')
  const look = async (what: string) => {
    await harmless(t, page, what)
    const box = await dialog.boundingBox()
    t.ok(box !== null && box.x >= 0 && box.x + box.width <= 1280, `${what}: it is in the window`)
    const [inner, outer] = await page.evaluate<[number, number]>(
      `(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector('dialog'))`,
    )
    t.equal(inner, outer, `${what}: nothing is beside it`)
  }
  await page.getByRole('button', { name: 'Edit' }).click()
  await look('as it is')
  await dialog.getByLabel('JSON').fill(JSON.stringify({ id: attack, [field]: 7 }))
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('button', { name: 'Line 1' }).waitFor()
  await look('what is wrong')
  await objects.replace('default', attack, { id: attack, [field]: `${attack}${long}` })
  await dialog.getByLabel('JSON').fill(JSON.stringify({ id: attack, [field]: 'mine' }))
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Somebody changed it meanwhile.').waitFor()
  await look('what somebody else wrote')
  t.strictSame(
    faults.filter((fault) => !/status of (400|412)/.test(fault)),
    [],
  )
})

t.test('cores that are compared, and queries of them', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true, sparql: createSparql() })
  const iri = (v: string) => ({ v, e: true })
  const [one, other] = [`${attack} one`, `${mirrored} other`]
  const written = { v: `${attack}${mirrored}${'C'.repeat(1_000_000)}`, e: false }
  for (const [id, o] of [
    [one, written],
    [other, iri('javascript:globalThis.hit=1')],
  ] as const) {
    const m = { i: id, u: 'alice', m: [], c: 'default' }
    const t = [{ s: iri(`javascript:globalThis.hit=1//${attack}`), p: iri('urn:p'), o }]
    await knowledge.write({ user: 'alice', id }, [['t', { m, t }]])
  }
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  await page.getByText('Compare two cores').click()
  await page.getByLabel('One core').fill(one)
  await page.getByLabel('The other').fill(other)
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByText('0 triples are in both.').waitFor()
  await harmless(t, page, 'compared')
  await page.getByLabel('The other').fill(`${attack} nowhere`)
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByText(/There is no core .*nowhere/).waitFor()
  await harmless(t, page, 'no such core')

  const ask = async (query: string) => {
    await goTo(page, 'cores')
    await page.getByRole('heading', { name: 'Cores', level: 1 }).waitFor()
    await goTo(page, `sparql?query=${encodeURIComponent(query)}`)
  }
  await ask('SELECT * { ?s ?p ?o }')
  await page.getByText('2 results in').waitFor()
  await harmless(t, page, 'results')
  // Links of the page itself, whatever an IRI says.
  const links = await page.evaluate<string[]>(
    `[...document.querySelectorAll('main a')].map((link) => link.getAttribute('href'))`,
  )
  t.ok(links.length >= 3 && links.every((href) => href.startsWith('#/')), links.join())
  await ask(
    `SELECT * { ?s ?p ?o . FILTER(?o = "${attack.replaceAll('"', "'")}" ${'D'.repeat(5_000)}`,
  )
  await page.getByRole('alert').waitFor()
  await harmless(t, page, 'an error')
  t.strictSame(
    faults.filter((fault) => !/status of (400|404)/.test(fault)),
    [],
  )
})

t.test('things and types that are called as what objects have', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const names = ['constructor', '__proto__', 'toString']
  await write(knowledge, 'names', [
    ...boats,
    ...names.flatMap((name) => [
      { s: iri(name), p: type, o: iri(`http://example.org/${name}`) },
      { s: iri(dick), p: knows, o: iri(name) },
    ]),
  ])
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/graph/names`, 'alice')
  for (const name of names) await page.getByRole('button', { name: `${name} 1` }).waitFor()
  await goTo(page, 'ask?q=haymaking')
  for (const name of names) {
    await page.getByRole('button', { name: `Dick knows ${name}` }).click()
    await page.getByText('None of these passages has').waitFor()
  }
  t.strictSame(faults, [])
})

t.test('whose index it is, and what a server says of itself', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true, defaultUser: `${attack}${mirrored}` })
  const { page, faults } = await watchedPage(t, url)
  const cache = `cache="${attack.replaceAll('"', '\\"')}${'E'.repeat(300)}"`
  const body = `lorekeep_cache_bytes{${cache}} 1\nlorekeep_cache_max_bytes{${cache}} 2\n`
  await page.route('**/metrics', (route) => route.fulfill({ body }))
  const where = [`${attack}${mirrored}`, 'F'.repeat(300)]
  await page.route('**/readyz', (route) => route.fulfill({ json: { status: 'unready', where } }))
  await signIn(page, `${url}/api/v1/inspector#/health`, 'admin')
  await page.getByRole('region', { name: 'Caches' }).getByText('onerror').waitFor()
  await page.getByText(/^not ready.*onerror/).waitFor()
  await page.getByText(/Index of .*onerror/).waitFor()
  await harmless(t, page, 'health')
  t.strictSame(faults, [])
})

async function harmless(t: Test, page: Page, what: string): Promise<void> {
  t.equal(await page.evaluate('globalThis.hit'), undefined, `${what}: nothing has run`)
  const widths = '[document.documentElement.scrollWidth, innerWidth]'
  const [inner, outer] = await page.evaluate<[number, number]>(widths)
  t.equal(inner, outer, `${what}: as wide as the window`)
  t.equal(await page.locator('main img, main script, dialog img, dialog script').count(), 0, what)
}
