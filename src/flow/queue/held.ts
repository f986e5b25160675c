// What members of a shared backend hold in the queue beside their leases, as it is stored.

import { decodeKey } from '../../keys.js'
import { decodeRecord } from '../../record.js'
import type { Storage } from '../../storage.js'
import type { DocumentRef } from '../types.js'
import { endingKeys, withheldKeys, type EndingRecord } from './records.js'

/** What holds a job: the token is new with every claim. */
export interface Hold {
  readonly number: number
  readonly token: string
}

/** A document that a member withholds. */
export interface Withheld extends Required<DocumentRef> {
  readonly member: string
}

/** A step that may still run in the process of a member, of a job that is no longer its. */
export interface Ending extends EndingRecord, Hold {}

/** Both by their keys. */
export interface Held {
  readonly withheld: Map<string, Withheld>
  readonly endings: Map<string, Ending>
}

export async function loadHeld(storage: Storage): Promise<Held> {
  const held: Held = { withheld: new Map(), endings: new Map() }
  // Only where there are others anybody holds anything.
  if (storage.sharing === undefined) return held
  const readWithheld = async () => {
    for await (const page of storage.scan({ ...withheldKeys(), keysOnly: true })) {
      for (const { key } of page) {
        const [, user, document, member] = decodeKey(key) as [string, string, string, string]
        held.withheld.set(nameOf(key), { user, document, member })
      }
    }
  }
  const readEndings = async () => {
    for await (const page of storage.scan(endingKeys())) {
      for (const { key, value } of page) {
        const [, number, token] = decodeKey(key) as [string, number, string]
        held.endings.set(nameOf(key), { ...decodeRecord<EndingRecord>(value), number, token })
      }
    }
  }
  await Promise.all([readWithheld(), readEndings()])
  return held
}

export function nameOf(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1')
}
