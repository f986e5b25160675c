// Who looks: the token, what the server says of it, and the stores as it may see them.

import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { Connection } from '../client/connection.js'
import { connect, type RemoteGraph, type RemoteLorekeep } from '../client/index.js'
import { Drafts } from './drafts.js'
import { TransferLists } from './transfer-list.js'

export type Store = 'knowledge' | 'objects' | 'flows'

/** What GET whoami says. */
export interface Whoami {
  readonly user: string
  readonly defaultUser?: string
  readonly collections?: readonly string[]
  readonly shared?: readonly string[]
  readonly access?: 'read'
  /** That the server has. */
  readonly stores: readonly Store[]
  /** Whether the server answers it. */
  readonly sparql: boolean
}

export interface Session {
  readonly keep: RemoteLorekeep
  /** For what the stores have no method of. */
  readonly connection: Connection
  readonly who: Whoami
  readonly token: string | undefined
  /** Whose things are shown: the token's user, or the one that was chosen where it is for any. */
  readonly user: string
  /** What of cores is asked, where the token is for some collections: one of them. */
  readonly collection: string | undefined
  readonly mayChange: boolean
  readonly transfers: TransferLists
  /** Queries in SPARQL. */
  readonly drafts: Drafts
  /** For every user, and on every collection: then there is more to see than one's own. */
  readonly seesAll: boolean
}

/** Where the routes are: the page is one of them, whatever stands in front. */
export const prefix = location.pathname.replace(/\/inspector\/?$/, '')

const kept = 'lorekeep.token'

export function keptToken(): string | undefined {
  return sessionStorage.getItem(kept) ?? undefined
}

export function keepToken(token: string | undefined): void {
  if (token === undefined) sessionStorage.removeItem(kept)
  else sessionStorage.setItem(kept, token)
}

/** `undefined` where the server does not know the token. @throws Error where it does not answer */
export async function signIn(token: string | undefined): Promise<Session | undefined> {
  const headers: Record<string, string> =
    token === undefined ? {} : { Authorization: `Bearer ${token}` }
  const response = await fetch(`${prefix}/whoami`, { headers })
  if (response.status === 401) return undefined
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
  const who = (await response.json()) as Whoami
  const options = { url: location.origin, prefix, ...(token !== undefined && { token }) }
  const [keep, connection] = [connect(options), new Connection(options)]
  const user = who.user === '*' ? (who.defaultUser ?? '') : who.user
  const seesAll = who.user === '*' && who.collections === undefined
  const [collection] = who.collections ?? []
  const mayChange = who.access !== 'read'
  const [transfers, drafts] = [new TransferLists(), new Drafts()]
  return { keep, connection, who, token, user, collection, mayChange, transfers, drafts, seesAll }
}

/** All of the user's cores as one graph, or some, as far as the token lets it be asked. */
export function graphOf(
  { keep, user, collection }: Pick<Session, 'keep' | 'user' | 'collection'>,
  cores?: readonly string[],
): RemoteGraph {
  return keep.knowledge.graph({
    user,
    ...(cores !== undefined && { cores }),
    ...(collection !== undefined && { collection }),
  })
}

/** From so many entities an answer is drawn. */
export const entities = 10

export const SessionContext = createContext<Session | undefined>(undefined)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new TypeError('nobody is signed in')
  return session
}
