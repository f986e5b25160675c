import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { createProgram } from '../../src/cli/program/program.js'
import { fail, succeed } from './command.js'

const hasBash = spawnSync('bash', ['--version']).status === 0
const skip = hasBash ? false : 'no bash'

/** What bash offers after these words. */
function offered(script: string, words: readonly string[]): readonly string[] {
  const line = words.map((word) => `'${word}'`).join(' ')
  const ask = `COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _lorekeep
printf '%s\\n' "\${COMPREPLY[@]}"`
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', `${script}\n${ask}`])
  if (status !== 0 || stderr.length > 0) throw new Error(String(stderr))
  return String(stdout).trim().split('\n')
}

t.test("bash's script parses, and completes commands, options and values", { skip }, async (t) => {
  const script = String(await succeed(t, ['completion', 'bash']))
  const file = join(t.testdir({ script }), 'script')
  t.equal(spawnSync('bash', ['-n', file]).status, 0)
  t.strictSame(offered(script, ['lorekeep', 'exp']), ['export'])
  t.strictSame(offered(script, ['lorekeep', 'flows', 'de']), ['define'])
  t.strictSame(offered(script, ['lorekeep', 'objects', 'query', '--fil']), ['--filter'])
  t.ok(offered(script, ['lorekeep', 'cores', 'show', '--']).includes('--user'), 'a parent’s option')
  t.strictSame(offered(script, ['lorekeep', 'import', '--mode', 'rep']), ['replace'])
  t.strictSame(offered(script, ['lorekeep', 'cores', '--url', 'x', 'del']), ['delete'])
  t.strictSame(offered(script, ['lorekeep', 'load', 'package.js']), ['package.json'])
  t.strictSame(offered(script, ['lorekeep', 'import', '--id', 'package.js']), ['package.json'])
  t.strictSame(offered(script, ['lorekeep', 'help', 'samp']), ['sample'])
  t.strictSame(offered(script, ['lorekeep', 'completion', '']).slice(0, 3), ['bash', 'zsh', 'fish'])
  t.strictSame(offered(script, ['lorekeep', 'jobs', '--st']), ['--state'])
  t.strictSame(offered(script, ['lorekeep', 'jobs', '--state', 'd']), ['delayed', 'done', 'dead'])
  t.notOk(offered(script, ['lorekeep', 'jobs', 'show', '--']).includes('--state'))
  t.strictSame(offered(script, ['lorekeep', 'documents', '--lim']), ['--limit'])
  t.strictSame(offered(script, ['lorekeep', 'import', '--mode', '=', 'r']), ['replace'])
  t.strictSame(offered(script, ['lorekeep', 'import', '--mode', '=']), ['append', 'replace'])
  t.strictSame(offered(script, ['lorekeep', 'import', '--mode=r']), ['--mode=replace'])
  for (const words of [
    ['lorekeep', ''],
    ['lorekeep', 'import', '--'],
    ['lorekeep', 'jobs', '--'],
  ]) {
    const all = offered(script, words)
    t.equal(new Set(all).size, all.length, words.join(' '))
  }
})

t.test('a name of a file is one word, whatever is in it', { skip }, async (t) => {
  const script = String(await succeed(t, ['completion', 'bash']))
  const shelf = t.testdir({ 'my notes.txt': '', '[a] *.txt': '', 'a.txt': '' })
  const my = join(shelf, 'my')
  const mine = join(shelf, 'my notes.txt')
  t.strictSame(offered(script, ['lorekeep', 'load', my]), [mine])
  t.strictSame(offered(script, ['lorekeep', 'load', '--metadata', my]), [mine])
  t.strictSame(offered(script, ['lorekeep', 'load', `--metadata=${my}`]), [`--metadata=${mine}`])
  const marks = join(shelf, '[a] *.txt')
  t.strictSame(offered(script, ['lorekeep', 'load', join(shelf, '[a')]), [marks])
})

t.test('every command and option is in every script', async (t) => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = String(await succeed(t, ['completion', shell]))
    for (const command of createProgram().commands) {
      t.match(script, command.name())
      for (const { long } of command.options) {
        if (long === undefined) continue
        t.ok(script.includes(shell === 'fish' ? `-l ${long.slice(2)}` : long), `${shell} ${long}`)
      }
    }
  }
  t.match(String(await succeed(t, ['completion', 'zsh'])), /^autoload -U \+X bashcompinit/)
  await fail(t, 2, ['completion', 'csh'])
  await fail(t, 2, ['completion'])
})
