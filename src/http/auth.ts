// Who is asking, and for whom it may act.

import type { IncomingMessage } from 'node:http'
import { checkOptions } from '../door/options.js'
import { aListOfTexts, aText, neverUndefined, oneOf } from '../door/rules.js'
import { LorekeepError } from '../errors.js'
import type { Call } from './call.js'
import { requestError } from './target.js'

export interface Principal {
  /** The user it acts for; `'*'` acts for any user and then names one in each request. */
  readonly user: string
  /** The only collections it may touch: none where the list is empty, all where it is left out. */
  readonly collections?: readonly string[]
  /** Collections in which it also reads what others imported. */
  readonly shared?: readonly string[]
  /** `'read'`: it changes nothing. Left out: it may. */
  readonly access?: 'read'
}

/**
 * Asked for every request. `token` is the bearer token, `undefined` where there is none: who knows its
 * clients by a cookie, a session, a key of its own or a certificate finds them in the request. `null`
 * (or `undefined`, what a Map gives) is a 401.
 * Never make `user` of unchecked input: a user called `*` is every user.
 */
export type Authenticate<Request = IncomingMessage> = (
  token: string | undefined,
  request: Request,
) => Principal | null | undefined | Promise<Principal | null | undefined>

/** Whom a token, and what else the request has, stands for; undefined is nobody. */
export type Identify<Request> = (
  token: string | undefined,
  request: Request,
) => Promise<Principal | undefined>

export function createIdentify<Request>(
  authenticate: Authenticate<Request> | 'none',
): Identify<Request> {
  if (authenticate === 'none') return async () => ({ user: '*' })
  return async (token, request) => {
    const principal: unknown = await ask(authenticate, token, request)
    if (principal === null || principal === undefined) return undefined
    const rules = principalRules
    checkOptions('the principal of authenticate()', principal, rules, 'user')
    return principal as Principal
  }
}

/** The token of `Authorization: Bearer TOKEN`. */
export function bearerToken({ headers }: Pick<Call, 'headers'>): string | undefined {
  return /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** @throws LorekeepError `LK_HTTP_UNAUTHORIZED` */
export async function authenticated<Request>(
  identify: Identify<Request>,
  call: Call,
  request: Request,
): Promise<Principal> {
  const token = bearerToken(call)
  const principal = await identify(token, request)
  if (principal !== undefined) return principal
  const error = token === undefined ? '' : ', error="invalid_token"'
  call.setHeader('WWW-Authenticate', `Bearer realm="lorekeep"${error}`)
  throw new LorekeepError('LK_HTTP_UNAUTHORIZED', refusalOf(token, call.headers.authorization))
}

// One that is misspelt, or undefined, would be one that is left out, which allows more.
const principalRules = {
  user: aText,
  collections: neverUndefined(aListOfTexts),
  shared: neverUndefined(aListOfTexts),
  access: neverUndefined(oneOf('read')),
}

function refusalOf(token: string | undefined, authorization: string | undefined): string {
  if (token !== undefined) return 'the token is not accepted'
  if (authorization === undefined)
    return 'there is no bearer token, and nothing else that is accepted'
  return "the Authorization header is not 'Bearer' and a token"
}

/** @throws LorekeepError `LK_HTTP_FORBIDDEN`, before anyone looked whether there is such a core */
export function actingUser(principal: Principal, named: string | undefined): string {
  if (principal.user === '*') {
    if (named !== undefined) return named
    throw requestError(
      'user',
      'is missing, and who asks may act for anyone: name one in the query (?user=…)',
    )
  }
  if (named === undefined || named === principal.user) return principal.user
  throw new LorekeepError('LK_HTTP_FORBIDDEN', "'user' is not the user of this token")
}

/** Whose things a list shows; `undefined` is everyone's. @throws LorekeepError as actingUser() */
export function shownUser(principal: Principal, named: string | undefined): string | undefined {
  return principal.user === '*' ? named : actingUser(principal, named)
}

/** What the host throws is the host's, also when it has one of our codes: never our answer. */
async function ask<Request>(
  authenticate: Authenticate<Request>,
  token: string | undefined,
  request: Request,
): Promise<unknown> {
  try {
    return await authenticate(token, request)
  } catch (error) {
    if (!(error instanceof LorekeepError)) throw error
    throw new Error('authenticate failed', { cause: error })
  }
}
