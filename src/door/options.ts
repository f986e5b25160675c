// What a program passes as options. A wrong one is a mistake in the program: a TypeError, at once.

import { broken, type Rule, type Rules } from './rules.js'
import { formatPath } from './json.js'
import { isPlainObject, shown, unknownMember } from './wording.js'

const none: object = Object.freeze({})

/** What options that fit the rules have. */
export type Values<R extends Rules> = {
  readonly [Name in keyof R]?: (R[Name] extends Rule<infer Value> ? Value : never) | undefined
}

/**
 * The options; those that are left out, or undefined, are not looked at. An option that nobody knows
 * is refused as one that is wrong is: it may be the misspelt name of one that matters.
 * @param where what is called, such as `match()`, or what the options are a part of, such as `limits`
 * @throws TypeError that names the option, what it has to be and what was found
 */
export function checkOptions<R extends Rules, Required extends keyof R & string = never>(
  where: string,
  given: unknown,
  rules: R,
  ...required: readonly Required[]
): Values<R> & { readonly [Name in Required]: NonNullable<Values<R>[Name]> } {
  type Checked = ReturnType<typeof checkOptions<R, Required>>
  // Most calls have none: what would be made for each is a tenth of a lookup.
  if (given === undefined && required.length === 0) return none as Checked
  const options = given === undefined ? none : given
  // A promise, a Map or an instance has no members of its own: it would be no option at all.
  if (!isPlainObject(options)) {
    const names = Object.keys(rules).join(', ')
    const takes = isCall(where) ? 'takes' : 'must be'
    throw new TypeError(`${where} ${takes} a plain object of ${names}, not ${shown(options)}`)
  }
  // Of each value as it was looked at: who changes the object, or has getters, changes nothing.
  const taken: Record<string, unknown> = {}
  for (const key of Reflect.ownKeys(options)) {
    const name = String(key)
    const rule = typeof key === 'string' && Object.hasOwn(rules, key) ? rules[key] : undefined
    if (rule === undefined) {
      throw new TypeError(
        `${placeOf(where, formatPath([name]))} ${unknownMember(name, Object.keys(rules))}`,
      )
    }
    const { [name]: value } = options
    if (value === undefined && rule.isNeverUndefined !== true) continue
    if (!rule.holds(value)) throw new TypeError(`${placeOf(where, name)} ${broken(rule, value)}`)
    if (rule.options !== undefined)
      taken[name] = checkOptions(placeOf(where, name), value, rule.options)
    else taken[name] = value
  }
  for (const name of required) {
    if (taken[name] !== undefined) continue
    throw new TypeError(`${placeOf(where, name)} is missing; it must be ${rules[name]?.expected}`)
  }
  return taken as Checked
}

function placeOf(where: string, name: string): string {
  return isCall(where) ? `${where}: ${name}` : `${where}.${name}`
}

function isCall(where: string): boolean {
  return where.endsWith(')')
}

/**
 * Of a call that takes no more: what somebody takes for an option would be ignored.
 * @throws TypeError
 */
export function checkNoMore(call: string, surplus: readonly unknown[]): void {
  if (surplus.length === 0) return
  throw new TypeError(`${call} takes no argument more; ${shown(surplus[0])} would be ignored`)
}

/** An argument of its own. @throws TypeError */
export function checkArgument(name: string, value: unknown, rule: Rule<unknown>): void {
  if (!rule.holds(value)) throw new TypeError(`${name} ${broken(rule, value)}`)
}
