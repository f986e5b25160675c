// A restore that is killed: `restore-child.js DIRECTORY FILE BYTES` stops for good after so many.

import { createReadStream } from 'node:fs'
import { LevelBackend } from '../../adapters/level/index.js'
import { restore } from '../../src/index.js'

const [directory = '', file = '', bytes = ''] = process.argv.slice(2)

async function* until(stop: number) {
  let given = 0
  for await (const chunk of createReadStream(file, { highWaterMark: 16 * 1024 })) {
    if (given >= stop) {
      // What was given is written meanwhile.
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 200)
      await new Promise(() => {})
    }
    given += (chunk as Buffer).length
    yield chunk as Buffer
  }
}

await restore(new LevelBackend(directory), until(Number(bytes)))
