// What two principals see of each other, and what one that may only read is offered: nothing.

import t from 'tap'
import { serve } from '../http/fixtures/serving.js'
import { noBrowser, openBrowser, signIn, watchedPage } from './browser.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

t.test(
  'neither of two sees the other, and a reader has no buttons that change',
  { skip },
  async (t) => {
    const authenticate = (token: string | undefined) =>
      token === 'reader'
        ? ({ user: 'alice', access: 'read' } as const)
        : token === 'bob' || token === 'alice'
          ? { user: token }
          : null
    const { url, flows } = await serve(t, { inspector: true, authenticate })
    const runner = flows.run()
    t.teardown(() => runner.stop())
    await flows.load('default', { id: 'of-alice', user: 'alice', content: 'Alice owns a boat.' })
    for (;;) {
      const status = await flows.document({ user: 'alice', document: 'of-alice' })
      if (status?.completed !== undefined) break
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const browser = await openBrowser(t)
    for (const view of ['documents', 'cores', 'queue']) {
      const seen = async (token: string) => {
        const { page, faults } = await watchedPage(t, browser, url)
        await signIn(page, `${url}/api/v1/inspector#/${view}`, token)
        const found = page.locator('table, .empty')
        await found.first().waitFor()
        t.strictSame(faults, [], `${token} at ${view}`)
        const buttons = await page.getByRole('main').getByRole('button').allTextContents()
        return { text: await page.getByRole('main').textContent(), buttons }
      }
      t.match((await seen('alice')).text, /of-alice/)
      t.notMatch((await seen('bob')).text, /of-alice/)
      const reader = await seen('reader')
      t.match(reader.text, /of-alice/)
      t.notMatch(
        reader.buttons.join(),
        /Delete|Choose|Retry|Cancel/,
        `what ${view} offers a reader`,
      )
    }
  },
)
