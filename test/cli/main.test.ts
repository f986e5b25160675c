import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import { fail, inherited, run, script, start, succeed } from './command.js'

t.test('--version prints the version of the package', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  t.equal(String(await succeed(t, ['--version'])), `${version}\n`)
})

const skip = process.platform === 'win32' && 'its lines are for a POSIX shell'

t.test('the lines that the manual begins with do what they are for', { skip }, async (t) => {
  const manual = readFileSync('docs/cli.md', 'utf8')
  const [, block = ''] = /\n\n((?: {4}.*\n|\n)+)/.exec(manual) ?? []
  const lines = block.split('\n').flatMap((line) => line.trim() || [])
  t.ok(lines.length >= 12, block)
  const cwd = t.testdir()
  for (const line of lines) {
    const shell = `set -o pipefail; lorekeep() { "$node" "$script" "$@"; }; ${line}`
    const env = { ...inherited(), node: process.execPath, script }
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', shell], { cwd, env })
    t.notMatch(stderr, /: no |nothing/, line)
    if (/^lorekeep (?:cores|match|sparql|ask|search|objects query)/.test(line)) t.ok(stdout, line)
  }
  const asked = 'Who wrote Frankenstein?'
  for (const args of [
    ['ask', asked],
    ['ask', asked, '--all'],
    ['nearest', '--text', asked, '--json'],
  ]) {
    const printed = String(await succeed(t, args, { cwd })).replace(/^(?=.)/gm, '    ')
    t.ok(manual.includes(printed), `what it shows of '${args.join(' ')}' is printed: ${printed}`)
  }
})

t.test('--help shows the commands, and an example with each', async (t) => {
  const help = String(await succeed(t, ['--help']))
  const commands = [...help.split('Commands:\n')[1]!.matchAll(/^ {2}([a-z]+)(?= )/gm)]
  t.ok(commands.length > 20, help)
  for (const [, command = ''] of commands) {
    if (command === 'help') continue
    t.match(String(await succeed(t, [command, '--help'])), /\nExample:\n {2}\$ lorekeep /)
  }
})

t.test('help that was asked for is on stdout, with exit code 0', async (t) => {
  for (const args of [['help'], ['help', 'import'], ['cores', 'help'], ['cores', 'help', 'show']]) {
    t.match(String(await succeed(t, args)), /^Usage: lorekeep/)
  }
})

t.test('no command at all is wrong usage, and shows the help on stderr', async (t) => {
  const { code, stdout, stderr } = await run(t, [])
  t.equal(code, 2)
  t.equal(stdout.length, 0)
  t.match(stderr, /^Usage: lorekeep/)
})

t.test('wrong usage is one line and exit code 2', async (t) => {
  await fail(t, 2, ['frobnicate'])
  await fail(t, 2, ['import'])
  await fail(t, 2, ['import', '-'])
  await fail(t, 2, ['import', 'a', '--mode', 'merge'])
  await fail(t, 2, ['export'])
  await fail(t, 2, ['export', '--id', 'a', '--url', 'ftp://a'])
  await fail(t, 2, ['export', '--id', 'a', '--url', 'http://a', '--data', 'b'])
  await fail(t, 2, ['export', '--id', 'a', '--token', 'b'])
  await fail(t, 2, ['cores', 'frobnicate'])
  t.match(await fail(t, 2, ['cores', '--jsno']), 'Did you mean --json?')
  const env = { LOREKEEP_TOKEN: 'two words' }
  t.notMatch(await fail(t, 2, ['cores', '--url', 'http://a'], { env }), 'two words')
  await fail(t, 2, ['serve', '--port', '65536'])
  await fail(t, 2, ['serve', '--token', 'no-user'])
  await fail(t, 2, ['serve', '--token', 'two words=alice'])
  await fail(t, 2, ['serve', '--stop-timeout', 'soon'])
})

t.test('a token in the environment is nothing to a run without a server', async (t) => {
  const data = t.testdir()
  const input = await succeed(t, ['sample'])
  await succeed(t, ['import', '-', '--id', 'a', '--data', data], { input })
  for (const LOREKEEP_TOKEN of ['', 'two words', 'token']) {
    await succeed(t, ['cores', '--data', data], { env: { LOREKEEP_TOKEN } })
  }
})

t.test('stack traces are printed when they are asked for', async (t) => {
  const data = `${t.testdir()}/none`
  const debugged = await run(t, ['cores', '--data', data, '--debug'])
  t.equal(debugged.code, 1)
  t.match(debugged.stderr, /^lorekeep: .*\n[^]*\n {4}at /)
  const env = { LOREKEEP_DEBUG: '1' }
  t.match((await run(t, ['cores', '--data', data], { env })).stderr, /\n {4}at /)
  await fail(t, 1, ['cores', '--data', data])
})

t.test('a reader of stdout that leaves early ends the command quietly', async (t) => {
  const { child, ended } = start(t, ['sample', '--triples', '1000000000'])
  child.stdout?.once('data', () => child.stdout?.destroy())
  const { code, stderr } = await ended
  t.equal(code, 0)
  t.equal(stderr, '')
})

t.test('an interrupt ends the command with 130', async (t) => {
  const { child, ended } = start(t, ['sample', '--triples', '1000000000'])
  child.stdout?.once('data', () => child.kill('SIGINT'))
  const { code, stderr } = await ended
  t.equal(code, 130)
  t.match(stderr, /^lorekeep: [^\n]+\n$/)
})

t.test('an unknown command of a group that lists by default is named', async (t) => {
  for (const group of ['cores', 'flows', 'jobs', 'documents', 'schema', 'collections']) {
    const said = await fail(t, 2, [group, 'lst'])
    t.match(said, "unknown command 'lst' (did you mean 'list'?)")
    t.match(await fail(t, 2, [group, 'list', 'more']), "too many arguments for 'list': more")
  }
})

t.test('version is no command, and what prints it is told', async (t) => {
  t.match(await fail(t, 2, ['version']), 'lorekeep --version')
  t.notMatch(String(await succeed(t, ['--help'])), /^ {2}version/m)
})
