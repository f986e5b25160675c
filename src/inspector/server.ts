// What the server has beside the stores, and where: as its OpenAPI document says, which names everything relative to
// itself, and so holds wherever the handler is mounted.

import { textOf } from '../client/connection.js'
import { parseJson } from '../json-text.js'
import { Measures } from './measures.js'
import type { Session } from './session.js'

export interface ServerParts {
  /** `GET` of these there is; relative ones are behind the prefix. */
  readonly readyz: URL | undefined
  readonly metrics: URL | undefined
  readonly hasBackup: boolean
}

interface Described {
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, unknown>>
}

export async function partsOf({ connection }: Session, signal: AbortSignal): Promise<ServerParts> {
  const response = await connection.ask('GET', 'openapi.json', { isSafe: true, signal })
  const { servers, paths } = parseJson(await textOf(response)) as Described
  const base = new URL(servers[0]?.url ?? '.', response.url).href.replace(/\/$/, '')
  const at = (path: string) => (path in paths ? new URL(base + path) : undefined)
  const hasBackup = Object.keys(paths).some((path) => path.endsWith('/backup'))
  return { readyz: at('/readyz'), metrics: at('/metrics'), hasBackup }
}

/** Whether work is taken; if not, where it is refused. */
export interface Readiness {
  readonly status: 'ready' | 'unready'
  readonly where?: readonly string[]
}

export async function readinessOf(url: URL, signal: AbortSignal): Promise<Readiness> {
  // Unready is a 503 and an answer all the same.
  const response = await fetch(url, { signal })
  return (await response.json()) as Readiness
}

export async function measuresOf(
  url: URL,
  { token }: Session,
  signal: AbortSignal,
): Promise<Measures> {
  const headers: Record<string, string> =
    token === undefined ? {} : { Authorization: `Bearer ${token}` }
  const response = await fetch(url, { headers, signal })
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
  return new Measures(await response.text())
}
