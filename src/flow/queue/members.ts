// What the members of a shared backend hold in the queue beside their leases: documents that nobody may claim while
// one removes them, and steps that may still run though their job is no longer theirs. It goes with its member.

import { memberKey, type Presence } from '../../presence.js'
import { encodeRecord } from '../../record.js'
import type { Storage } from '../../storage.js'
import type { DocumentRef } from '../types.js'
import type { Draft } from './draft.js'
import { nameOf, type Ending, type Hold, type Withheld } from './held.js'
import { endingKey, withheldKey } from './records.js'
import type { EndingRecord } from './records.js'
import { documentName, hashOf, leasesOf, type Active, type State } from './state.js'

/** What the queue asks of it. */
export type Membership = Pick<Presence, 'id' | 'condition' | 'refusal' | 'expel' | 'ready'>

/** From the commit on nobody claims a job of this document. Gives by whom it is withheld. */
export function withhold(
  draft: Draft,
  { user, document }: Required<DocumentRef>,
): string | undefined {
  const { member } = draft
  if (member === undefined) return undefined
  const key = withheldKey(user, document, member)
  draft.state.held.withheld.set(nameOf(key), { user, document, member })
  draft.tellMore()
  draft.put(key, nothing)
  return member
}

/** `member`: who withheld it, which may be who this process was. */
export function release(draft: Draft, { user, document, member }: Withheld): void {
  const key = withheldKey(user, document, member)
  if (draft.state.held.withheld.delete(nameOf(key))) {
    draft.delete(key)
    draft.tellMore()
  }
  for (const id of draft.state.flows.keys()) draft.queued.add(id)
}

/** A step of a job may go on that its member has no longer. */
export function leaveEnding(
  draft: Draft,
  { number, token, member, user, document }: Omit<Ending, 'member'> & Pick<Active, 'member'>,
): void {
  if (member === undefined) return
  const key = endingKey(number, token)
  const ending: EndingRecord = { member, user, document }
  draft.state.held.endings.set(nameOf(key), { ...ending, number, token })
  draft.tellMore()
  draft.put(key, encodeRecord(ending))
}

/** What a process still needs of what it holds. */
interface Needed {
  readonly isRunning: (hold: Hold) => boolean
  /** Of a document, by documentName(). */
  readonly isRemoved: (name: string) => boolean
}

export function hasLeft(state: State, self: string, needed: Needed): boolean {
  const { withheld, endings } = leftOf(state, self, needed)
  return withheld.length + endings.length > 0
}

export function dropLeft(draft: Draft, needed: Needed): void {
  const { withheld, endings } = leftOf(draft.state, draft.member, needed)
  for (const one of withheld) release(draft, one)
  for (const ending of endings) dropEnding(draft, ending)
}

function leftOf({ held }: State, self: string | undefined, { isRunning, isRemoved }: Needed) {
  const withheld = [...held.withheld.values()].filter(({ member, user, document }) => {
    return member === self && !isRemoved(documentName(user, hashOf(document)))
  })
  const endings = [...held.endings.values()].filter((ending) => {
    return ending.member === self && !isRunning(ending)
  })
  return { withheld, endings }
}

function dropEnding(draft: Draft, { number, token }: Hold): void {
  const key = endingKey(number, token)
  draft.state.held.endings.delete(nameOf(key))
  draft.delete(key)
  draft.tellMore()
}

/** Whatever somebody held who can write nothing any more, but for leases. */
export function dropHeld(draft: Draft, gone: ReadonlySet<string>): void {
  for (const withheld of draft.state.held.withheld.values()) {
    if (gone.has(withheld.member)) release(draft, withheld)
  }
  for (const ending of draft.state.held.endings.values()) {
    if (gone.has(ending.member)) dropEnding(draft, ending)
  }
}

/** Others that hold something, and of whose records here none is left. */
export async function goneOf(storage: Storage, state: State, self: string): Promise<string[]> {
  const { withheld, endings } = state.held
  const members = new Set<string>()
  for (const { member } of [...withheld.values(), ...endings.values(), ...leasesOf(state)]) {
    if (member !== undefined && member !== self) members.add(member)
  }
  if (members.size === 0) return []
  const ids = [...members]
  const records = await storage.getMany(ids.map(memberKey))
  return ids.filter((_, place) => records[place] === undefined)
}

const nothing = new Uint8Array(0)
