// What of everybody's things somebody may see, and change. What lies outside is not there.

import { checkOptions } from './door/options.js'
import { aListOfTexts, aText, optionsOf } from './door/rules.js'

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

const scopeRules = { collections: aListOfTexts, user: aText, shared: aListOfTexts }

/** Among options. A part that is misspelt would be one that is left out, which allows more. */
export const aScope = optionsOf<Scope>(scopeRules)

/** As an argument of its own. @throws TypeError */
export function checkScope(scope: Scope): void {
  checkOptions('scope', scope, scopeRules)
}

const scopeAlone = { scope: aScope }

/** The scope that a call was given among its options. @throws TypeError */
export function scopeIn(call: string, options: unknown): Scope {
  return checkOptions(call, options, scopeAlone).scope ?? {}
}

/** Whether what is of this user, and in this collection, is the scope's own. */
export function isOwn(
  { user, collections }: Scope,
  owned: { readonly user: string; readonly collection: string },
): boolean {
  if (user !== undefined && owned.user !== user) return false
  return collections?.includes(owned.collection) ?? true
}
