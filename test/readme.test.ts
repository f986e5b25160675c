// The README's first example runs as it stands, from a directory of its own, and its links lead
// somewhere.

import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const root = resolve(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

t.test('the example of the README prints what it stores', async (t) => {
  const [example] = [...readme.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code as string)
  t.equal(
    await run(t.testdir({}), example ?? ''),
    '1 triple and 1 vector, 190 bytes\n1 Moby-Dick\n',
  )
})

t.test('the examples of docs/objects.md print what the page says', async (t) => {
  const page = readFileSync(join(root, 'docs', 'objects.md'), 'utf8')
  const program = [...page.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code).join('\n')
  const expected = [...program.matchAll(/\/\/ → (.*)/g)].map(([, line]) => line)
  t.ok(expected.length > 10)
  t.strictSame((await run(t.testdir({}), program)).split('\n'), [...expected, ''])
})

t.test('the README opens with the two commands', async (t) => {
  const commands = /```sh\n([^]*?)```/
    .exec(readme)?.[1]
    ?.split('\n')
    .map((line) => line.split('#')[0]?.trim())
  t.strictSame(commands?.slice(0, 2), ['npm start', 'npm test'])
  t.match(readFileSync(join(root, '.ci', 'run'), 'utf8'), /^npm test$/m)
})

t.test('links between the docs lead to files', async (t) => {
  const docs = readdirSync(join(root, 'docs')).map((file) => join('docs', file))
  for (const file of ['README.md', 'CONTRIBUTING.md', ...docs]) {
    const text = readFileSync(join(root, file), 'utf8')
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
      t.ok(existsSync(join(root, dirname(file), target as string)), `${file}: ${target}`)
    }
  }
})

/** What a program prints that has the package installed. */
async function run(directory: string, program: string): Promise<string> {
  mkdirSync(join(directory, 'node_modules'))
  symlinkSync(root, join(directory, 'node_modules', 'lorekeep'))
  writeFileSync(join(directory, 'example.mjs'), program)
  const { stdout } = await promisify(execFile)(process.execPath, ['example.mjs'], {
    cwd: directory,
  })
  return stdout
}
