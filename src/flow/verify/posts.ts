// What has to hold of what was posted and is not taken in: it lies in inboxes of the gate that the head has, each with as
// many posts and jobs as the inbox and the head say.

import { keyPrefix } from '../../keys.js'
import { tupleOf, type Reading } from '../../verify/reading.js'
import { keyText, tupleText } from '../../verify/report.js'
import {
  gateKey,
  inboxes,
  type GateRecord,
  type HeadRecord,
  type InboxRecord,
  type PostRecord,
} from '../queue/records.js'
import { decodeHashes, type Run } from '../queue/run.js'
import { isInbox, isPost } from './record-shapes.js'

/** Of an inbox: what was posted and not taken in, by itself and by its posts. */
interface Untaken {
  readonly from: number
  readonly to: number
  readonly jobs: number
  foundPosts: number
  foundJobs: number
}

export interface PostedRun {
  /** Of the post. */
  readonly key: Uint8Array
  readonly flow: string
  readonly user: string
  readonly run: Pick<Run, 'first' | 'hashes'>
}

export class PostsCheck {
  readonly #reading: Reading
  readonly #untaken = new Map<number, Untaken>()

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** Gives the number of the last block that was posted; 0 where there is none. */
  async begin({ gate }: HeadRecord): Promise<number> {
    const value = await this.#reading.get(gateKey())
    const record = value && this.#reading.record<GateRecord>({ key: gateKey(), value })
    const expected = gate?.isClosed === true ? undefined : gate?.token
    if (record?.token !== expected && (value === undefined || record !== undefined)) {
      this.#error(tupleText('gate'), 'the head says otherwise whether loads are posted')
    }
    let last = 0
    for await (const entry of this.#reading.entries(keyPrefix('inbox'))) {
      const [place] = tupleOf<[number]>(entry.key, 'n') ?? []
      const inbox = this.#reading.record<InboxRecord>(entry)
      if (place === undefined || inbox === undefined) continue
      if (!isInbox(inbox) || place >= inboxes) {
        this.#reading.damaged(entry.key, 'it is not an inbox')
        continue
      }
      last = Math.max(last, inbox.block)
      const [posts, jobs] = gate?.taken[place] ?? [0, 0]
      const isOfGate = inbox.gate === gate?.token && inbox.posts >= posts && inbox.jobs >= jobs
      if (!isOfGate) this.#error(keyText(entry.key), 'the head knows of no such posts')
      this.#untaken.set(place, {
        from: posts,
        to: inbox.posts,
        jobs: inbox.jobs - jobs,
        foundPosts: 0,
        foundJobs: 0,
      })
    }
    return last
  }

  async *runs(): AsyncGenerator<PostedRun, void, undefined> {
    const isMuted = this.#reading.report.isMuted
    for await (const entry of this.#reading.entries(keyPrefix('post'))) {
      const [place, number] = tupleOf<[number, number]>(entry.key, 'nn') ?? []
      const post = this.#reading.record<PostRecord>(entry)
      if (place === undefined || number === undefined || post === undefined) continue
      if (!isPost(post)) {
        this.#reading.damaged(entry.key, 'it does not list jobs')
        continue
      }
      const inbox = this.#untaken.get(place)
      if (inbox === undefined || number <= inbox.from || number > inbox.to) {
        this.#error(keyText(entry.key), 'its inbox has no such post')
      } else if (!isMuted) inbox.foundPosts++
      for (const [flow, user, first, text] of post.runs) {
        const hashes = decodeHashes(text)
        if (inbox !== undefined && !isMuted) inbox.foundJobs += hashes.length
        yield { key: entry.key, flow, user, run: { first, hashes } }
      }
    }
    if (isMuted) return
    for (const [place, { from, to, jobs, foundPosts, foundJobs }] of this.#untaken) {
      if (foundPosts === to - from && foundJobs === jobs) continue
      const found = `${foundPosts} with ${foundJobs}`
      this.#error(
        tupleText('inbox', place),
        `has ${to - from} posts with ${jobs} jobs that are not taken in; there are ${found}`,
      )
    }
  }

  #error(what: string, message: string): void {
    this.#reading.report.error(this.#reading.partition, 'different', what, message)
  }
}
