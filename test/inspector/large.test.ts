// The short form of `npm run torture -- inspector`.

import { platform } from 'node:process'
import t from 'tap'
import { noBrowser } from './browser.js'
import { largeRun } from './large.js'

// A browser takes its time where others work, too.
t.setTimeout(300_000)

const skip = noBrowser || (platform !== 'linux' && 'there is no /proc')

t.test(
  'a large core goes in and out, and nothing of one that is cancelled stays',
  { skip },
  async (t) => {
    const { bytes, addedBytes } = await largeRun(t.testdir(), 60)
    t.ok(bytes >= 60e6)
    t.comment(`${Math.round(addedBytes / 1e6)} MB more in the browser`)
  },
)
