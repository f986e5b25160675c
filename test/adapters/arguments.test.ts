import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { backends } from '../fixtures/stores.js'

for (const [engine, createBackend] of backends) {
  t.test(
    `${engine}: a value whose bytes were taken away is refused before anything is written`,
    async (t) => {
      const backend = createBackend(t)
      t.teardown(() => backend.close())
      const storage = await backend.open('cores')
      const [one, two] = [Uint8Array.of(1), Uint8Array.of(2)]
      const gone = Uint8Array.of(1, 2, 3)
      structuredClone(gone.buffer, { transfer: [gone.buffer] })
      const write = storage.write(
        [
          { type: 'put', key: one, value: one },
          { type: 'put', key: two, value: gone },
        ],
        { durable: true },
      )
      await t.rejects(write, TypeError)
      t.equal(await storage.get(one), undefined)
      await storage.write([{ type: 'put', key: one, value: new Uint8Array() }], { durable: true })
      t.strictSame(Array.from((await storage.get(one)) ?? [1]), [])
    },
  )
}

t.test('sizes of which LevelDB would take what is left of them are refused', async (t) => {
  for (const profile of [
    ...['pageBytes', 'cacheBytes', 'writeBufferBytes', 'maxFileBytes'].map((name) => {
      return { [name]: 2 ** 32 }
    }),
    { pageEntries: 2 ** 32 },
    { maxOpenFiles: 2 ** 31 },
  ]) {
    const [name] = Object.keys(profile)
    const open = () => new LevelBackend('/none', { profiles: { objects: profile } })
    t.throws(open, {
      name: 'TypeError',
      message: new RegExp(`${name} must be a whole number from`),
    })
  }
})
