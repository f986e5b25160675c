// What `npm start` does before it starts: it compiles what has changed, says so, and leaves the rest.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'

t.test('what has changed is compiled, and nothing else', async (t) => {
  const root = t.testdir({
    'package-lock.json': '{}',
    'package.json': '{ "type": "module", "version": "1.2.3" }',
    src: {
      'a.ts': 'export const a: number = 1\n',
      'errors.ts': '',
      'json-text.ts': '',
      'vocabulary.ts': '',
      in: { 'b.ts': "export type { A } from '../a.js'\n" },
      client: {},
      inspector: {
        'main.tsx': "import { render } from 'preact'\nrender(<p>seen</p>, document.body)\n",
        'style.css': 'p { margin: 0 }\n',
        'icon.svg': '<svg/>',
        'texts.ts': "export const texts = { title: 'T', language: 'en', noScript: 'S' }\n",
        graph: {
          'layout-worker.ts': 'onmessage = null\n',
          'drawing-worker.ts': 'onmessage = null\n',
        },
      },
    },
    adapters: {},
    node_modules: {},
  })
  cpSync('scripts', join(root, 'scripts'), { recursive: true })
  for (const name of ['typescript', 'esbuild', 'preact']) {
    symlinkSync(resolve('node_modules', name), join(root, 'node_modules', name))
  }
  // As if all had been installed: there is no network here.
  const lock = createHash('sha256').update('{}').digest('hex')
  writeFileSync(join(root, 'node_modules/.ready'), `all ${lock}`)
  const ready = () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/ready.js'), 'run'])
    t.equal(status, 0, String(stderr))
    return String(stderr)
  }
  const making = 'lorekeep: making the page of the inspector …\n'
  t.equal(ready(), `lorekeep: compiling 5 files …\n${making}`)
  t.match(readFileSync(join(root, 'dist/src/a.js'), 'utf8'), /^export const a = 1;$/m)
  t.ok(existsSync(join(root, 'dist/src/in/b.js')))
  const page = join(root, 'dist/src/http/inspector/page')
  t.match(readFileSync(join(page, 'page.html'), 'utf8'), /src="inspector\/inspector-\w+\.js"/)
  t.match(readFileSync(join(page, 'licenses.txt'), 'utf8'), /^preact .*MIT/s)
  t.equal(ready(), '')
  const later = new Date(Date.now() + 5000)
  utimesSync(join(root, 'src/a.ts'), later, later)
  t.equal(ready(), 'lorekeep: compiling 1 file …\n')
  utimesSync(join(root, 'src/inspector/style.css'), later, later)
  t.ok(ready().endsWith(making))
})
