// Pictures of every view: small, named by the pages that show them, and written where that is asked for: npm run pictures.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { noBrowser } from './browser.js'
import { takePictures } from './pictures.js'

const folder = 'docs/images'
// A browser takes its time where others work, too.
t.setTimeout(300_000)

/** Charts of benchmarks lie there, too. */
const shown = () => readdirSync(folder).filter((file) => file.endsWith('.png'))

t.test('every view has its picture', { skip: noBrowser }, async (t) => {
  const pictures = await takePictures(t)
  if (process.env['PICTURES'] !== undefined) {
    mkdirSync(folder, { recursive: true })
    for (const [name, picture] of pictures) writeFileSync(join(folder, `${name}.png`), picture)
  }
  t.strictSame(shown().sort(), [...pictures.keys()].map((name) => `${name}.png`).sort())
})

t.test('they are small, and are shown', async (t) => {
  const page = readFileSync('docs/inspector.md', 'utf8')
  const readme = readFileSync('README.md', 'utf8')
  for (const name of shown()) {
    const bytes = readFileSync(join(folder, name)).byteLength
    t.ok(bytes < 120_000, `${name}: ${bytes} bytes`)
    t.ok(page.includes(`(images/${name})`), `${name} is in the page of the inspector`)
  }
  t.equal(readme.match(/\(docs\/images\/[\w-]+\.png\)/g)?.length, 3, 'three are in the README')
})
