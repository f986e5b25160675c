import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { writeWholeFile } from '../src/whole-file.js'

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

const skip = process.platform === 'win32' && 'it has no such modes'

t.test('a file that is there keeps its mode, or gets a narrower one', { skip }, async (t) => {
  const path = join(t.testdir(), 'file')
  const umask = process.umask(0o077)
  t.teardown(() => {
    process.umask(umask)
  })
  writeFileSync(path, 'old')
  const modeOf = () => (statSync(path).mode & 0o777).toString(8)
  for (const [before, mode, after] of [
    [0o664, undefined, '664'],
    [0o640, undefined, '640'],
    [0o644, 0o600, '600'],
    [0o400, 0o600, '400'],
  ] as const) {
    chmodSync(path, before)
    await writeWholeFile(path, bytes('new'), mode)
    t.equal(modeOf(), after)
    t.equal(readFileSync(path, 'utf8'), 'new')
  }
})
