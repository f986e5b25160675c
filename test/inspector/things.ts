// Something of alice's for every view.

import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import type { Lorekeep } from '../../src/index.js'

/** A document, a job that failed, and an object. */
export async function storeThings(
  t: Test,
  { flows, objects }: Pick<Lorekeep, 'flows' | 'objects'>,
): Promise<{ readonly job: string }> {
  await flows.define({ id: 'f', maxAttempts: 1, steps: [{ name: 'break', run: refuse }] })
  const runner = flows.run()
  t.teardown(() => runner.stop())
  await flows.load('default', { id: 'of-alice', user: 'alice', content: 'Alice owns a boat.' })
  const { job } = await flows.load('f', { id: 'of-alice-dead', user: 'alice', content: 'x' })
  await objects.defineSchema({ name: 'boats', fields: { name: { type: 'string' } } })
  const metadata = { id: 'batch', user: 'alice', collection: 'default' }
  const values = [{ id: 'b1', name: 'of-alice' }]
  await objects.import({ metadata, schema_name: 'boats', values })
  for (;;) {
    const status = await flows.document({ user: 'alice', document: 'of-alice' })
    if (status?.completed !== undefined && (await flows.stats('f')).dead === 1) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { job }
}

function refuse(): never {
  throw new Error('no oars')
}

/** Every place where something of it is to be seen, by a text that is there when all is. */
export const placesOf = (job: string): Readonly<Record<string, string>> => ({
  'ask?q=boat': 'What the passages say',
  graph: '3 things',
  cores: 'of-alice',
  documents: 'of-alice',
  'documents/of-alice': 'Alice owns a boat.',
  objects: '1 object',
  queue: 'of-alice-dead',
  [`queue/${job}`]: 'no oars',
})

export async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`)
}
