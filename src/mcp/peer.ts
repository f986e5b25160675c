// The SDK of the Model Context Protocol: an optional peer, loaded when the protocol is spoken.

import type * as sdk from '@modelcontextprotocol/server'
import type * as stdio from '@modelcontextprotocol/server/stdio'
import { LorekeepError } from '../errors.js'

export type Sdk = typeof sdk
type StdioSdk = typeof stdio

/** @throws LorekeepError `LK_PEER_MISSING` */
export function loadSdk(): Promise<Sdk> {
  return peer(() => import('@modelcontextprotocol/server'))
}

/** @throws LorekeepError `LK_PEER_MISSING` */
export function loadStdio(): Promise<StdioSdk> {
  return peer(() => import('@modelcontextprotocol/server/stdio'))
}

async function peer<Package>(load: () => Promise<Package>): Promise<Package> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const name = '@modelcontextprotocol/server'
    const detail = `the Model Context Protocol is spoken by '${name}': npm install ${name}@2`
    throw new LorekeepError('LK_PEER_MISSING', detail, { cause, details: { package: name } })
  }
}
