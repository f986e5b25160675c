// What a run of the benchmarks prints and keeps. The scenario is a made-up one: it is not measured here.

import { execFile, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { resultOf, type Line, type Result } from '../../benchmarks/result.js'

const figure = {
  ...{ scenario: 'read', peer: 'a peer', ours: '2 /s', theirs: '1 /s' },
  ...{ value: 2, low: 1.5, high: 2.5, unit: 'x', target: { least: 2.1 } },
}
const skipped = { scenario: 'read', peer: 'another', skipped: 'it is not installed' }
const point = { growth: 'cores', cost: 'open the store', size: 1000, value: 12.345, unit: 'ms' }

t.test('the JSON says of which file each figure and point is, where and when', async (t) => {
  const directory = t.testdir({})
  const file = join(directory, 'results', 'quiet.json')
  const began = Date.now()
  const { stdout, status } = await run(
    directory,
    [figure, skipped, point],
    ['--json', '--into', file],
  )
  t.equal(status, 0)
  const { machine, date, commit, ...rest } = JSON.parse(stdout) as Result
  t.match(machine, /^Node v\d.*, \d+ cores, /)
  t.ok(Date.parse(date) >= began && Date.parse(date) <= Date.now() && date.endsWith('Z'))
  t.match(commit, /^[0-9a-f]{12,}(-dirty)?$|^unknown$/)
  const of = 'extraction'
  t.strictSame(rest, {
    figures: [
      { ...figure, of, met: false },
      { ...skipped, of },
    ],
    points: [{ ...point, of }],
  })
  t.equal(readFileSync(file, 'utf8'), stdout)
  t.strictSame(readdirSync(join(directory, 'results')), ['quiet.json'])
})

t.test('without --json there are two tables, and a file all the same', async (t) => {
  const directory = t.testdir({ 'run.json': 'an older one' })
  const file = join(directory, 'run.json')
  const { stdout } = await run(directory, [figure, point], ['--into', file])
  const [machine, figures, points, ...more] = stdout.trimEnd().split('\n\n')
  t.match(machine, /^Node v/)
  t.match(
    figures?.split('\n').at(-1),
    /^\| read +\| a peer .* 2\.00 \(1\.50–2\.50\) \| ≥ 2\.10 \| missed \|$/,
  )
  t.match(points?.split('\n').at(-1), /^\| cores +\| 1,000 \| open the store \| 12\.3 ms \|$/)
  t.strictSame(more, [])
  t.strictSame((JSON.parse(readFileSync(file, 'utf8')) as Result).points.length, 1)
})

t.test('a scenario that fails is told in what is kept, and by the exit code', async (t) => {
  const directory = t.testdir({})
  const { stdout, status } = await run(directory, [figure, 'process.exit(3)'], ['--json'])
  t.equal(status, 1)
  const { figures } = JSON.parse(stdout) as Result
  t.match(figures, [figure, { scenario: 'extraction', skipped: 'ended with exit code 3' }])
})

t.test('a run that was killed goes on behind the scenarios that had ended', async (t) => {
  const cwd = t.testdir({})
  commitIn(cwd)
  const file = join(t.testdirName, 'results', 'run.json')
  const again = ['--json', '--into', file]
  const killed = await run(cwd, [figure], again, { lists: ['process.kill(process.ppid, 9)'] }, cwd)
  t.not(killed.status, 0)
  t.strictSame(readdirSync(join(cwd, 'results')), ['run.json.part'])
  const part = JSON.parse(readFileSync(`${file}.part`, 'utf8')) as Result

  const other = { ...figure, value: 3 }
  const { stdout, status } = await run(cwd, ['process.exit(3)'], again, { lists: [other] }, cwd)
  t.equal(status, 0)
  const { date, commit, figures } = JSON.parse(stdout) as Result
  t.match(figures, [
    { ...figure, of: 'extraction' },
    { ...other, of: 'lists' },
  ])
  t.strictSame([date, commit], [part.date, part.commit], 'the run that was begun')
  t.strictSame(readdirSync(join(cwd, 'results')), ['run.json'])

  // Of another commit nothing is taken over.
  writeFileSync(`${file}.part`, JSON.stringify({ ...part, commit: '0123456789ab' }))
  const anew = await run(cwd, [other], again, {}, cwd)
  t.match((JSON.parse(anew.stdout) as Result).figures, [other])
})

t.test('a scenario or an option that is not there is refused before anything runs', async (t) => {
  for (const wrong of ['extracton', '--jsn']) {
    const { stdout, status } = await run(t.testdir({}), [figure], [wrong])
    t.not(status, 0, wrong)
    t.equal(stdout, '', wrong)
  }
})

t.test('targets are judged at their limits', (t) => {
  const met = (value: number, target: object) => {
    const line = { ...figure, value, target, of: 'a' } as unknown as Line
    const judged = resultOf({ machine: '', date: '', commit: '' }, [line]).figures[0]
    return judged && 'met' in judged && judged.met
  }
  t.strictSame([met(2, { least: 2 }), met(1.99, { least: 2 })], [true, false])
  t.strictSame([met(2, { most: 2 }), met(2.01, { most: 2 })], [true, false])
  t.end()
})

/** Makes it a repository with one commit, to which nothing was changed. */
function commitIn(directory: string): void {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '--message', 'nothing')
}

type Fake = readonly (object | string)[]

/**
 * Of `extraction`, in whose place these lines are printed, or what is no line run, and of others that are to be made
 * up.
 */
function run(
  directory: string,
  extraction: Fake,
  args: readonly string[],
  others: Readonly<Record<string, Fake>> = {},
  cwd = process.cwd(),
) {
  const fakes = Object.entries({ extraction, ...others })
  const programs = fakes.map(([name, lines]) => {
    const statements = lines.map((line) =>
      typeof line === 'string'
        ? line
        : `writeSync(1, ${JSON.stringify(`${JSON.stringify(line)}\n`)})`,
    )
    const program = [...statements, 'process.exit()'].join('\n')
    return `if (process.argv[1].endsWith('/${name}.js')) {\n${program}\n}`
  })
  const preload = join(directory, 'scenario.mjs')
  writeFileSync(preload, ["import { writeSync } from 'node:fs'", ...programs].join('\n'))
  const env = { ...process.env, NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` }
  const names = args.includes('extracton') ? [] : fakes.map(([name]) => name)
  return new Promise<{ stdout: string; status: number }>((resolve) => {
    execFile(
      process.execPath,
      [join(process.cwd(), 'dist/benchmarks/run.js'), ...args, ...names],
      { env, cwd },
      (error, stdout) => resolve({ stdout, status: error ? Number(error.code ?? 1) : 0 }),
    )
  })
}
