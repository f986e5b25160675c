// Queries in SPARQL: written, run, wrong, and what comes of them.

import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Page } from 'playwright-core'
import { connect } from '../../src/client/index.js'
import { ask, mostRows, triplesIn } from '../../src/inspector/views/sparql/answer.js'
import { createSparql } from '../../src/sparql/index.js'
import { serve } from '../http/fixtures/serving.js'
import { boats, dick, ellen, knows, label, write } from './boats.js'
import {
  inaccessible,
  inaccessibleByDayAndNight,
  noBrowser,
  signIn,
  watchedPage,
} from './browser.js'
import { goTo } from './things.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(600_000)

t.test(
  'SPARQL: run by keyboard, wrong in a line, as a table, as a graph, as files',
  { skip },
  async (t) => {
    const { url, knowledge } = await serve(t, { inspector: true, sparql: createSparql() })
    await write(knowledge, 'boats', boats)
    const { page, faults } = await watchedPage(t, url)
    // Nobody answers a picker here: without one the file is a download.
    await page.addInitScript('delete globalThis.showSaveFilePicker')
    await signIn(page, `${url}/api/v1/inspector#/sparql`, 'alice')
    await page.getByRole('textbox', { name: 'Query' }).waitFor()
    t.strictSame(await inaccessibleByDayAndNight(page), [], 'the editor')
    await typeQuery(page, 'SELECT ?name\nWHERE { ?who <http://example.org/knows> ?other ;; }\nNOT')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('alert').waitFor()
    t.match(await page.getByRole('alert').textContent(), /LK_GRAPH_QUERY/)
    await page
      .locator('.note')
      .getByText(/^Line \d/)
      .waitFor()
    t.equal(await page.locator('.wrong').count(), 1, 'the line is marked')
    t.strictSame(await inaccessibleByDayAndNight(page), [], 'an error')

    await typeQuery(
      page,
      `SELECT ?name { <${dick}> <${knows.v}>/<${label.v}> ?name } ORDER BY ?name`,
    )
    await page.keyboard.press('Control+Enter')
    await page.getByText(/^2 results in/).waitFor()
    t.strictSame(await page.locator('tbody .term').allTextContents(), ['Clara', 'Ellen'])
    const saved = async (name: string) => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name, exact: true }).click(),
      ])
      return String(readFileSync(await file.path()))
    }
    t.equal(await saved('CSV'), 'name\r\nClara\r\nEllen\r\n')
    t.match(await saved('JSON'), /"value":"Ellen"/)
    t.strictSame(await inaccessibleByDayAndNight(page), [], 'a table')

    await typeQuery(page, `CONSTRUCT WHERE { ?a <${knows.v}> ?b }`)
    await page.keyboard.press('Control+Enter')
    await page.getByRole('button', { name: '3 things' }).waitFor()
    t.strictSame(await inaccessibleByDayAndNight(page), [], 'a graph')

    await typeQuery(page, `ASK { <${dick}> <${knows.v}> <${ellen}> }`)
    await page.keyboard.press('Control+Enter')
    await page.getByText('Yes.').waitFor()

    const other = encodeURIComponent(`SELECT ?x { <${dick}> <${knows.v}> ?x }`)
    await page.evaluate(`location.hash = '#/sparql?query=${other}'`)
    await page.getByText(/^2 results in/).waitFor()
    t.strictSame(
      faults.filter((fault) => !fault.includes('status of 400')),
      [],
      'browsers tell of a query that is refused as of an error',
    )
  },
)

t.test('of more than are shown is said that there are more', async (t) => {
  const { url, knowledge } = await serve(t, { sparql: createSparql() })
  const p = { v: 'urn:p', e: true }
  const triples = Array.from({ length: mostRows + 1 }, (_, n) => {
    return { s: { v: `urn:${n}`, e: true }, p, o: p }
  })
  await write(knowledge, 'many', triples)
  const graph = connect({ url, token: 'admin' }).knowledge.graph({ user: 'alice' })
  const { signal } = new AbortController()
  for (const form of ['CONSTRUCT { ?s ?p ?o }', 'SELECT ?s ?p ?o']) {
    for (const [asked, isCut] of [
      [mostRows, false],
      [mostRows + 1, true],
    ] as const) {
      const answer = await ask(graph, `${form} WHERE { ?s ?p ?o } LIMIT ${asked}`, signal)
      t.match(answer, { isCut }, `${asked} of ${form}`)
      t.equal(triplesIn(answer).length, mostRows)
    }
  }
})

t.test('a result goes into a file as other downloads do', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true, sparql: createSparql() })
  await write(knowledge, 'boats', boats)
  const { page, faults } = await watchedPage(t, url)
  await page.addInitScript('delete globalThis.showSaveFilePicker')
  const query = encodeURIComponent(`SELECT ?x { <${dick}> <${knows.v}> ?x }`)
  await signIn(page, `${url}/api/v1/inspector#/sparql?query=${query}`, 'alice')
  await page.getByText(/^2 results in/).waitFor()
  let downloads = 0
  page.on('download', () => downloads++)
  await page.route(/\/v1\/sparql/, () => undefined)
  await page.getByRole('button', { name: 'CSV' }).click()
  await page.getByRole('progressbar', { name: 'results.csv' }).waitFor()
  t.strictSame(await inaccessible(page), [])
  await page.evaluate(`location.hash = '#/cores'`)
  await page.getByRole('rowheader', { name: 'boats' }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Cancelled.').waitFor()
  t.equal(downloads, 0)
  t.strictSame(faults, [])
})

t.test('what was written and not run is there again', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true, sparql: createSparql() })
  const { page, faults } = await watchedPage(t, url)
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.dismiss()
  })
  const run: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/v1/sparql')) run.push(request.postData() ?? request.url())
  })
  await signIn(page, `${url}/api/v1/inspector#/sparql`, 'alice')
  const editor = page.getByRole('textbox', { name: 'Query' })
  const holds = (text: string) => editor.getByText(text).first().waitFor()
  await typeQuery(page, 'ASK { ?first ?p ?o }')
  await goTo(page, 'cores')
  await page.getByText('No cores yet').waitFor()
  await page.goBack()
  await holds('?first')
  await page.reload({ timeout: 2000 }).catch(() => undefined)
  t.strictSame(asked, ['beforeunload'])
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('No.').waitFor()
  await typeQuery(page, 'ASK { ?second ?p ?o }')
  await goTo(page, `sparql?query=${encodeURIComponent('ASK { ?third ?p ?o }')}`)
  await holds('?third')
  await page.getByText('No.').waitFor()
  await page.goBack()
  await holds('?second')
  await page.getByText('No.').waitFor()
  await page.getByRole('link', { name: 'Cores' }).click()
  await page.getByText('No cores yet').waitFor()
  await page.getByRole('link', { name: 'SPARQL' }).click()
  await holds('?second')
  t.notMatch(run.join(), 'second', 'it is run by nobody')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('No.').waitFor()
  t.match(run.at(-1), 'second')
  await page.reload()
  await page.getByLabel('Token').waitFor()
  t.strictSame(asked, ['beforeunload'], 'what was run is not held')
  await signInAgain('alice')
  await typeQuery(page, 'ASK { ?secret ?p ?o }')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signInAgain('bob')
  await goTo(page, 'sparql')
  await holds('?things')
  await page.reload()
  await page.getByLabel('Token').waitFor()
  t.strictSame(asked, ['beforeunload'], 'nor what is of somebody else')
  t.strictSame(faults, [])

  async function signInAgain(token: string): Promise<void> {
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation').waitFor()
  }
})

t.test('a term of millions of letters is read', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true, sparql: createSparql() })
  const { page, faults } = await watchedPage(t, url)
  const contentType = 'text/tab-separated-values'
  const body = `?a\t?b\n"${'x'.repeat(20_000_000)}"@en\t<urn:b>\n"\\"7\\""^^<urn:type>\t_:c\n`
  await page.route(/\/v1\/sparql/, (route) => route.fulfill({ contentType, body }))
  await signIn(page, `${url}/api/v1/inspector#/sparql?query=SELECT`, 'alice')
  await page.getByText(/^2 results in/).waitFor()
  const terms = await page.locator('tbody .term').allTextContents()
  t.strictSame(terms.slice(1), ['urn:b', '"7"', '_:c'])
  t.match(terms[0], /^x+…$/)
  t.strictSame(faults, [])
})

t.test('a server without an engine says so, until one is installed', { skip }, async (t) => {
  let isInstalled = false
  const sparql = { ...createSparql(), isInstalled: () => isInstalled }
  const { url } = await serve(t, { inspector: true, sparql })
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/sparql?query=ASK%20{}`, 'alice')
  await page.getByText('This server answers no SPARQL').waitFor()
  await page.getByText('npm install @comunica/query-sparql-rdfjs-lite').waitFor()
  t.equal(await page.getByRole('button', { name: 'Run' }).count(), 0)
  t.strictSame(await inaccessible(page), [])
  isInstalled = true
  await page.getByText('Yes.').waitFor()
  t.strictSame(faults, [], 'nothing was refused')
})

async function typeQuery(page: Page, query: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Query' })
  await editor.focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(query)
}
