// The reference page in a real Chromium: under its own policy, in light and dark, narrow and wide.

import t from 'tap'
import { inaccessible, noBrowser, watchedPage } from '../inspector/browser.js'
import { serve } from './fixtures/serving.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

t.test('the page does nothing that it must not, and can be read by all', { skip }, async (t) => {
  const { url } = await serve(t)
  // What may be wrong depends on the colours or on the width, not on both; all four took 92 s beside another test.
  for (const [colorScheme, name, width] of [
    ['light', 'narrow', 320],
    ['dark', 'wide', 1280],
  ] as const) {
    await t.test(`${colorScheme}, ${name}`, async (t) => {
      const viewport = { width, height: 800 }
      const { page, faults } = await watchedPage(t, url, { colorScheme, viewport })
      await page.goto(`${url}/api/v1/reference`)
      t.strictSame(await inaccessible(page), [], 'as it opens')
      await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
      t.strictSame(await inaccessible(page), [], 'with all that folds open')
      const widest = await page.evaluate('document.documentElement.scrollWidth')
      t.ok(Number(widest) <= width, `nothing is wider than the window: ${String(widest)}`)
      const folder = process.env['LOREKEEP_PICTURES']
      if (folder !== undefined) {
        for (const part of ['importCore', 'listJobs', 'queryObjects']) {
          await page.evaluate(`document.getElementById('${part}').scrollIntoView()`)
          const path = `${folder}/reference-${colorScheme}-${name}-${part}.png`
          await page.screenshot({ path })
        }
      }
      t.strictSame(faults, [])
    })
  }
})
