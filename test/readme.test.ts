// The README's first example runs as it stands, from a directory of its own, and its links lead
// somewhere.

import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const root = resolve(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

t.test('the example of the README makes a core of a text', async (t) => {
  const [example] = [...readme.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code as string)
  const directory = t.testdir({})
  const lines = (await run(directory, example ?? '')).split('\n')
  const progress = lines.slice(0, -3)
  t.ok(progress.includes('extract 1 of 1'))
  for (const line of progress) t.match(line, /^\w+ \d+ of \d+$/)
  t.match(lines.at(-3), /^[1-9]\d* triples, [1-9]\d* vectors$/)
  t.strictSame(lines.slice(-2), ['Ellen lives', ''])
  t.ok(statSync(join(directory, 'visit.core')).size > 0)
})

for (const name of ['objects.md', 'flows.md']) {
  t.test(`the examples of docs/${name} print what the page says`, async (t) => {
    const page = readFileSync(join(root, 'docs', name), 'utf8')
    const program = [...page.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code).join('\n')
    const expected = [...program.matchAll(/\/\/ → (.*)/g)].map(([, line]) => line)
    t.ok(expected.length > 10)
    t.strictSame((await run(t.testdir({}), program)).split('\n'), [...expected, ''])
  })
}

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
