// What thousands of documents give a user: small cores of triples and vectors that speak of common
// things, and the same in one core.

import { encodeMessage } from '../src/codec/encoder.js'
import type { CoreMessage, Term, Triple } from '../src/types.js'
import { Random } from '../test/fixtures/random.js'

export const user = 'library'
export const whole = { user, id: 'whole' }

export const triplesOfCore = 100
export const vectorsOfCore = 5
export const dimensions = 64

/** Subjects of a core, each with ten triples. */
const subjectsOfCore = 10
const shared = 5000

const entity = (v: string): Term => ({ v: `http://example.org/${v}`, e: true })
const literal = (v: string): Term => ({ v, e: false })
export const predicates = Array.from({ length: 10 }, (_, n) => entity(`predicate/${n}`))

export const subject = (core: number, n: number): Term => entity(`document/${core}/entity/${n}`)
export const topic = (n: number): Term => entity(`topic/${n % shared}`)

/** Half of the objects are topics that many cores speak of, the others texts of their own. */
export function triplesOf(core: number): Triple[] {
  const triples: Triple[] = []
  for (let n = 0; n < triplesOfCore; n++) {
    const place = n % 10
    const s = subject(core, Math.floor(n / 10) % subjectsOfCore)
    const p = predicates[place] as Term
    const o =
      place < 5
        ? topic(Math.imul(core * triplesOfCore + n, 0x9e3779b1) >>> 8)
        : literal(`what ${core} says in ${n} of ${place}`)
    triples.push({ s, p, o })
  }
  return triples
}

/** In 200 clusters, as vectors of texts are. */
export function vectorOf(core: number, n: number): Float32Array {
  const random = new Random(core * vectorsOfCore + n + 1)
  const centre = new Random(1_000_000 + random.below(200))
  return Float32Array.from(
    { length: dimensions },
    () => centre.below(2000) / 1000 - 1 + (random.below(600) / 1000 - 0.3),
  )
}

function messagesOf(core: number, id: string): CoreMessage[] {
  const m = { i: id, m: [], u: user, c: 'default' }
  const e = Array.from({ length: vectorsOfCore }, (_, n) => ({
    e: subject(core, n),
    v: [Array.from(vectorOf(core, n))],
  }))
  return [
    ['t', { m, t: triplesOf(core) }],
    ['ge', { m, e }],
  ]
}

export function streamOf(core: number, id = `core ${core}`): Uint8Array {
  return Buffer.concat(messagesOf(core, id).map((message) => encodeMessage(message)))
}
