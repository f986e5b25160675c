// Documents as they lie in storage: those that were accepted in one commit, together, which makes
// loading a few large values and not many small ones (docs/decisions.md).

import { LorekeepError } from '../../errors.js'
import { parseJson } from '../../json-text.js'
import type { Triple } from '../../types.js'
import type { Carrier } from '../carrier.js'
import type { AcceptedDocument } from '../document.js'
import { slotsPerBlock } from './records.js'

/**
 * A block as bytes: the length of its header in four bytes, the header as JSON, and the texts in
 * UTF-8, one after the other.
 */
interface Header {
  /** What the ids of its jobs begin with. */
  readonly id: string
  /** When they were accepted. */
  readonly at: number
  /** Places are counted through all of them. */
  readonly lanes: readonly Lane[]
}

/** Documents of one user for one flow. */
interface Lane {
  readonly flow: string
  readonly user: string
  /** Document, collection, length of the text in bytes, and where there are some metadata, title, type and carrier. */
  readonly jobs: readonly Entry[]
}

type Entry = readonly [
  string,
  string,
  number,
  (readonly Triple[])?,
  (string | null)?,
  (string | null)?,
  Carrier?,
]

export interface StoredDocument {
  readonly job: string
  readonly flow: string
  readonly user: string
  readonly document: string
  readonly collection: string
  readonly title?: string
  readonly metadata: readonly Triple[]
  /** UTF-8, unless the type is none of texts. */
  readonly text: Uint8Array
  /** Of a file that is yet to be read. */
  readonly type?: string
  /** Of the trace that it was loaded in. */
  readonly carrier?: Carrier
  readonly createdAt: number
}

/** A document that was accepted, until its block is built: then it has a number and an id. */
export class Ticket {
  readonly document: AcceptedDocument
  readonly hash: number
  number = 0
  id = ''

  constructor(document: AcceptedDocument, hash: number) {
    this.document = document
    this.hash = hash
  }
}

/** The documents of a commit, by lane. */
export class BlockBuilder {
  readonly #lanes = new Map<string, { flow: string; user: string; tickets: Ticket[] }>()
  readonly #flows = new Set<string>()
  #size = 0

  get isEmpty(): boolean {
    return this.#size === 0
  }

  get isFull(): boolean {
    return this.#size === slotsPerBlock
  }

  /** Whether the same user has such a document here for another flow, before or behind which it counts. */
  meets(flow: string, { document, hash }: Ticket): boolean {
    if (this.#flows.size === 0 || (this.#flows.size === 1 && this.#flows.has(flow))) return false
    for (const lane of this.#lanes.values()) {
      if (lane.flow === flow || lane.user !== document.user) continue
      if (lane.tickets.some((ticket) => ticket.hash === hash)) return true
    }
    return false
  }

  add(flow: string, ticket: Ticket): void {
    const { user } = ticket.document
    const name = `${flow.length} ${flow}${user}`
    const lane = this.#lanes.get(name)
    if (lane === undefined) this.#lanes.set(name, { flow, user, tickets: [ticket] })
    else lane.tickets.push(ticket)
    this.#size++
    this.#flows.add(flow)
  }

  /** The lanes, each one's tickets with numbers that follow each other. */
  number(block: number, id: string): Iterable<{ flow: string; user: string; tickets: Ticket[] }> {
    let number = block * slotsPerBlock
    for (const { tickets } of this.#lanes.values()) {
      for (const ticket of tickets) {
        ticket.number = number++
        ticket.id = jobId(id, ticket.number)
      }
    }
    return this.#lanes.values()
  }

  build(id: string, at: number): Uint8Array {
    const texts: Uint8Array[] = []
    const lanes = [...this.#lanes.values()].map(({ flow, user, tickets }): Lane => {
      const jobs = tickets.map(({ document }): Entry => {
        const { id, collection, title, metadata, text, type, carrier } = document
        texts.push(text)
        if (carrier !== undefined) {
          return [id, collection, text.length, metadata, title ?? null, type ?? null, carrier]
        }
        if (type !== undefined) {
          return [id, collection, text.length, metadata, title ?? null, type]
        }
        if (title !== undefined) return [id, collection, text.length, metadata, title]
        if (metadata.length === 0) return [id, collection, text.length]
        return [id, collection, text.length, metadata]
      })
      return { flow, user, jobs }
    })
    return join({ id, at, lanes }, texts)
  }
}

interface DocumentPlace {
  readonly lane: Lane
  readonly entry: Entry
  /** Of its text. */
  readonly start: number
}

/** Numbers of one user's jobs in a flow, which follow each other. */
export interface LaneNumbers {
  readonly flow: string
  readonly user: string
  readonly first: number
  readonly last: number
}

export class DocumentBlock {
  readonly #bytes: Uint8Array
  #parsed: { readonly header: Header; readonly places: readonly DocumentPlace[] } | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** In bytes. */
  get size(): number {
    return this.#bytes.byteLength
  }

  /** How many documents. @throws LorekeepError `LK_STORAGE_CORRUPT`, as the other methods do */
  get count(): number {
    return this.#parse().places.length
  }

  /** The document in a place; `undefined` past the last. `number` is its job's. */
  at(slot: number, number: number): StoredDocument | undefined {
    const { header, places } = this.#parse()
    const place = places[slot]
    if (place === undefined) return undefined
    const { lane, entry, start } = place
    const [document, collection, length, metadata = [], title, type, carrier] = entry
    return {
      job: jobId(header.id, number),
      flow: lane.flow,
      user: lane.user,
      document,
      collection,
      ...(typeof title === 'string' && { title }),
      ...(typeof type === 'string' && { type }),
      ...(carrier !== undefined && { carrier }),
      metadata,
      text: this.#bytes.subarray(start, start + length),
      createdAt: header.at,
    }
  }

  /** Whose documents it has, and which numbers their jobs have where its first one has `number`. */
  lanes(number: number): LaneNumbers[] {
    let first = number
    return this.#parse().header.lanes.map(({ flow, user, jobs }) => {
      const last = first + jobs.length - 1
      const lane = { flow, user, first, last }
      first = last + 1
      return lane
    })
  }

  /** One document of it as a block of its own. */
  only(slot: number): Uint8Array | undefined {
    const { header, places } = this.#parse()
    const place = places[slot]
    if (place === undefined) return undefined
    const { lane, entry, start } = place
    const text = this.#bytes.subarray(start, start + entry[2])
    return join({ ...header, lanes: [{ ...lane, jobs: [entry] }] }, [text])
  }

  // When it is first wanted: most blocks are kept for a moment and never looked at again.
  #parse(): { readonly header: Header; readonly places: readonly DocumentPlace[] } {
    if (this.#parsed !== undefined) return this.#parsed
    const bytes = this.#bytes
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    try {
      const length = view.readUInt32BE(0)
      const header = parseJson(view.toString('utf8', 4, 4 + length)) as Header
      const places: DocumentPlace[] = []
      let start = 4 + length
      for (const lane of header.lanes) {
        for (const entry of lane.jobs) {
          places.push({ lane, entry, start })
          start += entry[2]
        }
      }
      if (start !== bytes.byteLength)
        throw new RangeError(`${start} bytes, not ${bytes.byteLength}`)
      this.#parsed = { header, places }
      return this.#parsed
    } catch (cause) {
      throw new LorekeepError('LK_STORAGE_CORRUPT', 'a block of documents is damaged', { cause })
    }
  }
}

/** An id says which number it is of; what stands before it tells whether it is of this store. */
function jobId(prefix: string, number: number): string {
  return `${prefix}.${number.toString(36)}`
}

/** The number in a job's id; `undefined` for what is none. */
export function numberIn(id: string): number | undefined {
  const digits = /\.([0-9a-z]{1,11})$/.exec(id)?.[1]
  const number = digits === undefined ? NaN : parseInt(digits, 36)
  return Number.isSafeInteger(number) ? number : undefined
}

function join(header: Header, texts: readonly Uint8Array[]): Uint8Array {
  const json = Buffer.from(JSON.stringify(header), 'utf8')
  const bytes = texts.reduce((sum, { length }) => sum + length, 4 + json.length)
  const block = Buffer.allocUnsafeSlow(bytes)
  block.writeUInt32BE(json.length, 0)
  block.set(json, 4)
  let at = 4 + json.length
  for (const text of texts) {
    block.set(text, at)
    at += text.length
  }
  return block
}
