// docs/architecture.md and CONTRIBUTING.md lead through the sources by path: none may lead nowhere, and
// no folder may be left out.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const root = process.cwd()
const architecture = readFileSync(join(root, 'docs/architecture.md'), 'utf8')

for (const file of ['docs/architecture.md', 'CONTRIBUTING.md']) {
  t.test(`every path that ${file} names is there`, async (t) => {
    const text = readFileSync(join(root, file), 'utf8')
    const paths = new Set(
      [...text.matchAll(/`((?:src|adapters|test|docs|scripts|benchmarks)\/[^`\s]*)`/g)].map(
        ([, path]) => path as string,
      ),
    )
    t.ok(paths.size > 20)
    for (const path of paths) t.ok(existsSync(join(root, path)), path)
  })
}

t.test('docs/architecture.md names every folder of the sources', async (t) => {
  const folders = ['src', 'adapters'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1)),
  )
  t.ok(folders.length > 20)
  for (const folder of folders) t.ok(architecture.includes(`\`${folder}/\``), folder)
})
