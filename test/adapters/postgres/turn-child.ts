// Has a turn from its start on; on each line it gives it back, and takes it anew.

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PostgresBackend } from '../../../adapters/postgres/index.js'

const backend = new PostgresBackend({ url: process.argv[2]! })
const { sharing } = await backend.open('objects')
const lines = createInterface({ input: process.stdin })
for (;;) {
  const line = once(lines, 'line')
  const release = await sharing!.turn('name')
  process.stdout.write('had\n')
  await line
  release()
}
