// The client in a real Chromium; `npm run torture -- browser 200` does the same with a file of 200 MB.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { core, openStore } from '../http/fixtures/serving.js'
import { checkFound, inBrowser, noBrowser } from './browser.js'

t.test('a page of another origin', { skip: noBrowser }, async (t) => {
  const keep = await openStore(t)
  const runner = keep.flows.run()
  t.teardown(() => runner.stop({ timeoutMs: 0 }))
  const bytes = core('picked', 'alice', 5000)
  const file = join(t.testdir({ 'picked.core': bytes }), 'picked.core')
  const found = await inBrowser(keep, file)
  checkFound(found, bytes.length, createHash('sha256').update(bytes).digest('hex'))
  t.comment(`${found.told.length} times told, aborts took ${found.abortedMs.join(' and ')} ms`)
  t.ok(found.told.length > 0)
})
