import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { collect, numbered, put, text } from '../suite/bytes.js'
import { suite } from '../suite/index.js'

// As it is; and with nearly every value in a file, which `objects` has none of by default.
for (const profiles of [{}, { objects: { separateBytes: 5 } }]) {
  suite({
    test: (name, run) => t.test('objects' in profiles ? `value files: ${name}` : name, run),
    factory: {
      persistent: true,
      create: async () => {
        const directory = await mkdtemp(join(tmpdir(), 'lorekeep-level-'))
        return {
          backend: () => new LevelBackend(directory, { profiles }),
          remove: () => rm(directory, { recursive: true, force: true }),
        }
      },
    },
  })
}

t.test('a profile is as it was given, and what is undefined in it is as usual', async (t) => {
  const objects: Record<string, number | undefined> = { pageEntries: undefined, pageBytes: 1000 }
  objects['reclaimBytes'] = undefined
  const directory = t.testdir()
  const backend = new LevelBackend(directory, { profiles: { objects: objects as never } })
  t.teardown(() => backend.close())
  objects['pageEntries'] = 1
  objects['separateBytes'] = 5
  const storage = await backend.open('objects')
  for (let n = 0; n < 3; n++) await put(storage, numbered(n), text('longer than five bytes'))
  const pages: number[] = []
  for await (const page of storage.scan({})) pages.push(page.length)
  t.strictSame(pages, [3])
  t.equal((await collect(storage.scan({}))).length, 3)
  t.notOk((await readdir(join(directory, 'objects'))).includes('values'))
})
