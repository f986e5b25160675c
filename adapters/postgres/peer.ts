// The driver, an optional peer: imported when a backend is opened.

import { LorekeepError } from '../../src/errors.js'

export type Driver = Awaited<ReturnType<typeof load>>

async function load() {
  const [pg, copy] = await Promise.all([import('pg'), import('pg-copy-streams')])
  return { Client: pg.default.Client, copyTo: copy.to }
}

/** @throws LorekeepError `LK_PEER_MISSING` */
export async function driver(): Promise<Driver> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const detail = 'PostgresBackend needs pg and pg-copy-streams: npm install pg pg-copy-streams'
    throw new LorekeepError('LK_PEER_MISSING', detail, { cause })
  }
}
