// Names, texts and errors that somebody else wrote are shown as text: nothing in them runs, or breaks the page.

import t from 'tap'
import { serve } from '../http/fixtures/serving.js'
import { noBrowser, openBrowser, signIn, watchedPage } from './browser.js'

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
  const browser = await openBrowser(t)
  const { page, faults } = await watchedPage(t, browser, url)
  await signIn(page, `${url}/api/v1/inspector`, 'alice')
  const places = [
    'queue',
    'documents',
    `documents/${encodeURIComponent(id)}`,
    'cores',
    'objects',
    `ask?q=${encodeURIComponent(`rowed ${attack}`)}`,
  ]
  for (const place of places) {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`)
    await page.getByText('onerror').first().waitFor()
    t.equal(await page.evaluate('globalThis.hit'), undefined, `${place}: nothing has run`)
    const widths = '[document.documentElement.scrollWidth, innerWidth]'
    const [inner, outer] = await page.evaluate<[number, number]>(widths)
    t.equal(inner, outer, `${place}: as wide as the window`)
    t.equal(await page.locator('main img, main script').count(), 0, place)
  }
  t.strictSame(faults, [])
})
