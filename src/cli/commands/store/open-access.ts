// `serve --open`: nobody is asked who they are. What is left of a guard is where a request comes from.

import { lookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { UsageError } from '../../output/failure.js'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Everyone who reaches an open server reads, changes and deletes everything: it is for this machine.
 * @throws UsageError where `host` is an address that others reach, too
 */
export async function checkLoopback(host: string): Promise<void> {
  const addresses = await lookup(host, { all: true })
  const reached = addresses.find(({ address }) => !isLoopback(address))
  if (reached === undefined) return
  throw new UsageError(
    `--open lets everyone in who reaches the server, and ${reached.address} is reached from other machines: leave --host out, or add --force`,
  )
}

/**
 * Whether a request may come from a page in a browser that is none of this machine's: browsers send
 * such a page's requests here, its sockets too, and a name of its own may lead here as well.
 */
export function isForeign({ headers }: IncomingMessage, isForced: boolean): boolean {
  const { origin, host = '' } = headers
  const isOwn = (name: string | undefined) => name !== undefined && isLoopbackName(name)
  // Behind --force, whoever asks knows the server by names that nobody here knows.
  if (!isForced && !isOwn(hostnameOf(`http://${host}`))) return true
  if (origin === undefined || isOwn(hostnameOf(origin))) return false
  return !isForced || !URL.canParse(origin) || new URL(origin).host !== host
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : undefined
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name)
}

function isLoopback(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
}
