// Makes a store with something of everything, and closes it or waits to be killed. Arguments:
// directory, seed, layout, `close` or `kill`.

import { writeSync } from 'node:fs'
import { LevelBackend } from '../../adapters/level/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { fill, fillUp, layouts } from './bitrot-content.js'
import type { Layout } from './bitrot-content.js'

const [directory, seed, layout, end] = process.argv.slice(2)
const open = () => {
  const backend = new LevelBackend(directory as string, layouts[layout as Layout])
  return createLorekeep({ backend })
}
let keep = await open()
await fill(keep, new Random(Number(seed)))
if (layout === 'tables') {
  await keep.close()
  keep = await open()
  await fillUp(keep)
}
if (end === 'close') await keep.close()
else {
  writeSync(1, 'filled\n')
  setInterval(() => {}, 1000)
}
