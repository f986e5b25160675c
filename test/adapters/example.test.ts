// The adapter that docs/adapters.md begins with is a working one.

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { suite } from '../suite/index.js'
import { ExampleBackend } from './example-backend.js'

void t.test('docs/adapters.md quotes the example as it is tested', async (t) => {
  const source = await readFile('test/adapters/example-backend.ts', 'utf8')
  const page = await readFile('docs/adapters.md', 'utf8')
  const quoted = page.match(/```ts\n([^]*?)```/)?.[1]
  const published = source
    .replace("'../../src/errors.js'", "'lorekeep'")
    .replaceAll("'../../src/storage.js'", "'lorekeep'")
  t.equal(quoted, published)
})

suite({
  test: (name, run) => t.test(name, run),
  factory: { persistent: false, create: () => ({ backend: () => new ExampleBackend() }) },
})
