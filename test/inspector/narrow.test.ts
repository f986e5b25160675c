// A phone, and a window that is enlarged to twice its size: nothing has to be scrolled sideways, not even for what can
// be done with a row, and nothing moves for those who do not want that.

import t from 'tap'
import { core, serve } from '../http/fixtures/serving.js'
import { inaccessible, noBrowser, signIn, watchedPage } from './browser.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

const rightmost = `Math.max(...[...document.querySelectorAll('td.actions button')].map(
  (button) => button.getBoundingClientRect().right,
))`

const views = ['Ask', 'Graph', 'SPARQL', 'Cores', 'Documents', 'Objects', 'Queue', 'Health']

t.test('every view fits a narrow window', { skip }, async (t) => {
  const { url, knowledge, objects } = await serve(t, { inspector: true })
  await knowledge.import({ user: 'alice', id: 'b'.repeat(120) }, [core('b', 'alice', 3)])
  await objects.defineSchema({ name: 'boats', fields: { name: { type: 'string' } } })
  const metadata = { id: 'batch', user: 'alice', collection: 'default' }
  const values = [{ id: 'b1', name: 'Willow '.repeat(100) }]
  await objects.import({ metadata, schema_name: 'boats', values })
  const windows = {
    // Of 320 pixels, as WCAG 2.2 has it (1.4.10).
    phone: { viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' },
    // A window of 1280 pixels, enlarged.
    'twice the size': { viewport: { width: 640, height: 430 }, deviceScaleFactor: 2 },
  } as const
  for (const [name, options] of Object.entries(windows)) {
    const { page, faults } = await watchedPage(t, url, options)
    await signIn(page, `${url}/api/v1/inspector`, 'admin')
    await page.getByLabel('User').fill('alice')
    await page.getByLabel('User').press('Enter')
    for (const view of views) {
      await page.getByRole('navigation').getByRole('link', { name: view }).click()
      await page.getByRole('heading', { name: view, level: 1 }).waitFor()
      // Some views look for two things at once.
      await page.getByText('Loading …').first().waitFor({ state: 'detached' })
      const widths = '[document.documentElement.scrollWidth, innerWidth]'
      const [inner, outer] = await page.evaluate<[number, number]>(widths)
      t.equal(inner, outer, `${name}, ${view}: as wide as the window`)
      if (['Graph', 'Cores', 'Objects'].includes(view)) {
        await page.locator('td.actions button').first().waitFor()
        const right = await page.evaluate<number>(rightmost)
        t.ok(right <= outer, `${name}, ${view}: buttons of rows are in sight: ${right}`)
      }
      const moving = await page.evaluate('document.getAnimations().length')
      t.equal(moving, 0, `${name}, ${view}: nothing moves`)
      t.strictSame(await inaccessible(page), [], `${name}, ${view}`)
    }
    const head = await page.locator('header.side').boundingBox()
    t.ok(head !== null && head.height < 180, `${name}: the head leaves room: ${head?.height} px`)
    await page.getByRole('navigation').getByRole('link', { name: 'Objects' }).click()
    await page.getByRole('button', { name: 'Edit b1' }).click()
    const dialog = await page.getByRole('dialog').boundingBox()
    const { width } = options.viewport
    t.ok(dialog !== null && dialog.x >= 0 && dialog.x + dialog.width <= width, `${name}: a dialog`)
    t.strictSame(faults, [])
  }
})
