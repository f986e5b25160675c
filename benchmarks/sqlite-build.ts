// better-sqlite3 is C++ that has to be compiled, or downloaded compiled, by its install script;
// the peers are installed without running any. So it is built when a scenario first wants it.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { note } from './measure.js'

// Compiled, this file is dist/benchmarks/sqlite-build.js.
const peers = fileURLToPath(new URL('../../benchmarks/', import.meta.url))

/** Builds it where it does not load; a failure to is told, and leaves the other peers. */
export async function buildSqlite(): Promise<void> {
  if (await loads()) return
  note('building better-sqlite3, which takes a minute or two')
  const flags = ['--ignore-scripts=false', '--loglevel=error']
  await succeeds('npm', ['rebuild', 'better-sqlite3', '--prefix', peers, ...flags])
  if (!(await loads())) note('better-sqlite3 could not be built: its rows are skipped')
}

/** In a process of its own: a binary that failed to load is not tried again in the same one. */
function loads(): Promise<boolean> {
  return succeeds(process.execPath, ['-e', "new (require('better-sqlite3'))(':memory:').close()"])
}

function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: peers, stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code === 0))
  })
}
