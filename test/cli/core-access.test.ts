import t from 'tap'
import { coresIn } from '../../src/cli/access/core-access.js'
import { openLocalStores } from '../../src/cli/access/local-stores.js'
import { CutShort, exitCodeOf, Interrupted } from '../../src/cli/output/failure.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { sampleMessages } from '../../src/cli/commands/cores/sample.js'

t.test('an interrupt while --index indexes says that the core is there', async (t) => {
  const stores = await openLocalStores(t.testdir(), true, undefined)
  t.teardown(stores.close)
  const { knowledge } = stores
  const interrupt = new AbortController()
  const index = knowledge.index.bind(knowledge) as (...given: unknown[]) => unknown
  Object.assign(knowledge, {
    index: (...given: unknown[]) => {
      interrupt.abort(new Interrupted('SIGINT'))
      return index(...given)
    },
  })
  const cores = coresIn(stores, {})
  const ref = { user: 'ada', id: 'books' }
  const source = async function* () {
    for (const message of sampleMessages()) yield encodeMessage(message)
  }
  const { signal } = interrupt
  const given = { mode: 'append', index: true, signal, onProgress: () => undefined } as const
  const error: unknown = await cores.import(ref, source(), given).catch((error: unknown) => error)
  if (!(error instanceof CutShort)) throw error
  t.equal(
    error.message,
    "interrupted; 'books' of 'ada' is imported, but not indexed: 'lorekeep index' does it",
  )
  t.equal(exitCodeOf(error), 130)
  t.match(await knowledge.stat(ref), { triples: 44 })
})
