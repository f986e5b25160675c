// The README's first examples run as they stand, one after the other and from a directory of their
// own, and its links lead somewhere.

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
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const root = process.cwd()
const readme = readFileSync(join(root, 'README.md'), 'utf8')

t.test('the examples of the README make a core of a text, and ask it', async (t) => {
  const [making, asking] = [...readme.matchAll(/```js\n([^]*?)```/g)].map(
    ([, code]) => code as string,
  )
  const directory = t.testdir({})
  const lines = (await run(directory, `${making}\n${asking}`)).split('\n')
  const made = lines.findIndex((line) => /^[1-9]\d* triples, [1-9]\d* vectors$/.test(line))
  const progress = lines.slice(0, made)
  t.ok(progress.includes('extract 1 of 1'))
  for (const line of progress) t.match(line, /^\w+ \d+ of \d+$/)
  const [found, source, ...asked] = lines.slice(made + 1)
  t.strictSame([found, source], ['Ellen lives', 'Ellen lives in a house by'])
  t.ok(asked.includes('Ellen – Thames'))
  t.ok(asked.includes('http://www.w3.org/2000/01/rdf-schema#label Ellen'))
  t.ok(statSync(join(directory, 'visit.core')).size > 0)
})

for (const name of ['objects.md', 'flows.md', 'graph.md', 'rdf.md', 'sparql.md']) {
  t.test(`the examples of docs/${name} print what the page says`, async (t) => {
    const page = readFileSync(join(root, 'docs', name), 'utf8')
    const program = [...page.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code).join('\n')
    const expected = [...program.matchAll(/\/\/ → (.*)/g)].map(([, line]) => line)
    t.ok(expected.length > 5)
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
