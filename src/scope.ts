// What of everybody's things somebody may see, and change. What lies outside is not there.

import { checkNoMore, checkOptions } from './door/options.js'
import { brief } from './door/wording.js'
import { aListOfTexts, aText, neverUndefined, optionsOf } from './door/rules.js'

/**
 * Narrows what a call may touch: what a principal is allowed. What lies outside is not there: it is
 * neither found nor counted.
 */
export interface Scope {
  /** Only these collections. */
  readonly collections?: readonly string[]
  /** Only what this user brought. Left out: what anybody did. */
  readonly user?: string
  /**
   * Collections in which a `user` reads objects that others imported, too. What flows find in their
   * texts (schemas named `lorekeep_…`) nobody shares, nor documents and jobs.
   */
  readonly shared?: readonly string[]
}

// A part that is misspelt, or undefined, would be one that is left out, which allows more.
const scopeRules = {
  collections: neverUndefined(aListOfTexts),
  user: neverUndefined(aText),
  shared: neverUndefined(aListOfTexts),
}

/** Among options. */
export const aScope = neverUndefined(optionsOf<Scope>(scopeRules))

const scopeAlone = { scope: aScope }

/** The scope that a call was given among its options. @throws TypeError */
export function scopeIn(call: string, options: unknown): Scope {
  return copied(checkOptions(call, options, scopeAlone).scope)
}

/** The scope that was given as an argument of its own, or none. @throws TypeError */
export function scopeGiven(call: string, given: readonly [scope?: Scope | undefined]): Scope {
  if (given.length === 0) return {}
  const [scope, ...surplus] = given
  checkNoMore(call, surplus)
  return scopeIn(call, { scope })
}

/** Who changes the lists later does not change what is under way. */
export function copied(scope: Scope = {}): Scope {
  const { collections, shared } = scope
  return {
    ...scope,
    ...(collections !== undefined && { collections: [...collections] }),
    ...(shared !== undefined && { shared: [...shared] }),
  }
}

/** What is somebody's, and lies in a collection. */
export interface Owned {
  readonly user: string
  readonly collection: string
}

/** Whether what is of this user, and in this collection, is the scope's own. */
export function isOwn({ user, collections }: Scope, owned: Owned): boolean {
  if (user !== undefined && owned.user !== user) return false
  return collections?.includes(owned.collection) ?? true
}

/** Why something is not the scope's own, in a sentence; nothing where it is. */
export function outsideOf(scope: Scope, owned: Owned): string | undefined {
  if (isOwn(scope, owned)) return undefined
  const name = scope.collections?.includes(owned.collection) === false ? 'collection' : 'user'
  return `the ${name} ${brief(owned[name])} is not ${name === 'user' ? 'the one' : 'one of those'} allowed`
}
