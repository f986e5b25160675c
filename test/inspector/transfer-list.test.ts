// What becomes of transfers that somebody ends.

import t from 'tap'
import { TransferList } from '../../src/inspector/transfer-list.js'

t.test('nobody is asked of what was ended before', { timeout: 10_000 }, async (t) => {
  const transfers = new TransferList()
  const ended = new Promise<void>((onEnd) => transfers.watch({ onChange: () => {}, onEnd }))
  transfers.begin('boats', 1, async ({ ask }) => {
    transfers.list[0]?.leave()
    return ask('It is there. Replace it?', [['yes', 'Replace it']])
  })
  await ended
  const [{ question, outcome } = {}] = transfers.list
  t.equal(question, undefined)
  t.match(outcome, { text: /Cancelled/, error: undefined })
})
