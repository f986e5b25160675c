// No file has what a merge leaves where two changes meet. The files are read, whatever git knows: a
// package has none.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'

const root = process.cwd()
const marker = /^(?:<{7}|>{7}) /m
/** Of others, made anew, or data: what .gitignore names. */
const skipped = new Set(['node_modules', 'dist', 'coverage', 'lorekeep-data'])
/** A core that lies about may be of gigabytes. */
const mostBytes = 4 * 1024 * 1024

function* filesIn(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    // Hidden ones are of tools, the directories of tests that run at the same time among them.
    if (entry.isDirectory()) {
      if (!skipped.has(entry.name) && !entry.name.startsWith('.')) yield* filesIn(path)
    } else if (entry.isFile() && statSync(path).size <= mostBytes) yield path
  }
}

t.test('no file has a conflict that was not settled', async (t) => {
  let read = 0
  const marked: string[] = []
  for (const path of filesIn(root)) {
    const text = readFileSync(path, 'latin1')
    // Binary: no merge writes there.
    if (text.includes('\0')) continue
    read++
    if (marker.test(text)) marked.push(relative(root, path))
  }
  t.same(marked, [])
  t.ok(read > 300, `${read} files were read`)
})

t.test('both ends of a conflict are found, and other text is not', async (t) => {
  for (const end of ['<', '>']) {
    t.match(`a\n${end.repeat(7)} HEAD\nb`, marker)
    t.notMatch(`a ${end.repeat(7)} b\n${end.repeat(8)} c\n${end.repeat(7)}`, marker)
  }
})
