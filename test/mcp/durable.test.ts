// What `load` has answered is there, whatever becomes of the process.

import t, { type Test } from 'tap'
import { startAssistant, textOf, type Assistant } from './assistant.js'

t.test('a text that was answered for outlives a process that is killed', async (t) => {
  const data = `${t.testdir()}/data`
  // Some seconds of work, so that the answer comes long before its end.
  const text = Array.from(
    { length: 1500 },
    (_, n) => `Keeper ${n} lives in the lighthouse of Eddystone, and writes to Mary Shelley.`,
  ).join(' ')
  const first = await startAssistant(t, ['--data', data, '--write'])
  const loaded = await first.call('load', { document: 'urn:keepers', text })
  process.kill(first.pid, 'SIGKILL')
  const { job } = loaded.structuredContent as { job: string }

  const reading = await reopened(t, ['--data', data])
  const { structuredContent: waiting } = await reading.call('job', { job })
  t.match(waiting, { job, document: 'urn:keepers', state: /^(queued|active|delayed)$/ })
  await reading.client.close()

  const next = await reopened(t, ['--data', data, '--write'])
  const { structuredContent: ended } = await next.call('job', { job, wait_seconds: 60 })
  t.match(ended, { job, state: 'done' })
  t.match(textOf(await next.call('search', { text: 'Eddystone', k: 1 })), /document urn:keepers/)
})

/** The system takes a moment to give up what a process had; until then another ends when it has found that out. */
async function reopened(t: Test, args: readonly string[]): Promise<Assistant> {
  for (let left = 20; ; left--) {
    try {
      const assistant = await startAssistant(t, args)
      await assistant.call('list', { what: 'documents' })
      return assistant
    } catch (error) {
      if (left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
