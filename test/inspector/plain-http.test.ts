// By `http:` from another machine, where browsers keep much from pages: what they cannot do is not offered.

import t from 'tap'
import { serve } from '../http/fixtures/serving.js'
import { launch, noBrowser, signIn, watchedPage } from './browser.js'
import { goTo, placesOf, storeThings } from './things.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

t.test('there is every view, and no button that copies', { skip }, async (t) => {
  const { url, port, lorekeep } = await serve(t, { inspector: true })
  const { job } = await storeThings(t, lorekeep)
  const browser = await launch(t, ['--host-resolver-rules=MAP another.test 127.0.0.1'])
  const buttons = { [url]: 3, [`http://another.test:${port}`]: 0 }
  for (const [origin, copies] of Object.entries(buttons)) {
    const { page, faults } = await watchedPage(t, origin, { browser })
    await signIn(page, `${origin}/api/v1/inspector`, 'alice')
    for (const [place, seen] of Object.entries(placesOf(job))) {
      await goTo(page, place)
      await page.getByText(seen).first().waitFor()
    }
    await goTo(page, 'ask?q=boat')
    for (const name of ['curl', 'client', 'command']) {
      await page.getByText(name, { exact: true }).click()
    }
    t.equal(await page.getByRole('button', { name: 'Copy' }).count(), copies, origin)
    t.strictSame(faults, [], origin)
  }
})
