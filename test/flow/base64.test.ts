import fc from 'fast-check'
import t from 'tap'
import { decodeBase64, decodedLength, type Base64Flaw } from '../../src/flow/base64.js'
import { pickSeed } from '../fixtures/random.js'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const valid = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const validBeginning =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{0,3}|[A-Za-z0-9+/]{2}==?|[A-Za-z0-9+/]{3}=)$/
const bare = (text: string) => text.replace(/[\t\n\f\r ]/g, '')

/** RFC 4648, section 4, bit by bit. Undefined for what is not valid. */
function reference(text: string): number[] | undefined {
  const characters = bare(text)
  if (!valid.test(characters)) return undefined
  const bytes: number[] = []
  let bits = 0
  let held = 0
  for (const character of characters.replace(/=+$/, '')) {
    bits = ((bits << 6) | alphabet.indexOf(character)) & 0xfff
    held += 6
    if (held >= 8) bytes.push((bits >> (held -= 8)) & 0xff)
  }
  return bytes
}

// What Node's own decoder skips, or takes for something else: `Ł` is 'A' + 0x100.
const strangers = ['-', '_', '=', '==', ' ', '\n', '\t', '\f', '\r', '\v', '\0', '\u00a0']
const letters = ['A', 'Q', 'é', 'Ł', 'ŁŁŁŁ', '\u3d3d', '\u{1f600}', '\ud800', '*', ':', ',', '%']

/** Base64, with some places in it changed. */
const near = fc
  .tuple(
    fc.uint8Array({ maxLength: 24 }),
    fc.array(fc.tuple(fc.nat(40), fc.nat(2), fc.constantFrom(...strangers, ...letters)), {
      maxLength: 3,
    }),
  )
  .map(([bytes, edits]) => {
    let text = Buffer.from(bytes).toString('base64')
    for (const [place, removed, added] of edits) {
      const at = place % (text.length + 1)
      text = text.slice(0, at) + added + text.slice(at + removed)
    }
    return text
  })

const seed = pickSeed()

t.test(`it decodes what a strict decoder does, and nothing else (seed ${seed})`, async () => {
  fc.assert(
    fc.property(fc.oneof(near, near, fc.string()), (text) => {
      const wanted = reference(text)
      const found = decodeBase64(text)
      if (wanted === undefined) return !(found instanceof Uint8Array)
      return (
        found instanceof Uint8Array &&
        Buffer.from(wanted).equals(found) &&
        decodedLength(text) === wanted.length
      )
    }),
    { seed, numRuns: 20_000 },
  )
})

t.test(`a flaw is where the text stops being base64 (seed ${seed})`, async () => {
  fc.assert(
    fc.property(near, (text) => {
      const found = decodeBase64(text)
      if (found instanceof Uint8Array) return true
      const stranger = text.search(/[^A-Za-z0-9+/=\t\n\f\r ]/)
      if (stranger >= 0) return found.offset === stranger
      const isBeginning = (length: number) => validBeginning.test(bare(text.slice(0, length)))
      if (!isBeginning(found.offset)) return false
      return found.offset === text.length || !isBeginning(found.offset + 1)
    }),
    { seed, numRuns: 5_000 },
  )
})

t.test('it says what a text is that is not base64', async (t) => {
  const flaws: readonly (readonly [string, Base64Flaw])[] = [
    ['data:text/plain;base64,QUJD', { reason: 'data-url', offset: 4 }],
    ['\n Data:,A', { reason: 'data-url', offset: 6 }],
    ['QUJ_', { reason: 'base64url', offset: 3 }],
    ['QU-_QQ', { reason: 'base64url', offset: 2 }],
    ['Well-known words', { reason: 'alphabet', offset: 4 }],
    ['QUJD%3D', { reason: 'alphabet', offset: 4 }],
    ['QUJ\u0141', { reason: 'alphabet', offset: 3 }],
    ['QUJDŁŁŁŁ', { reason: 'alphabet', offset: 4 }],
    ['QQ', { reason: 'padding', offset: 2 }],
    ['QQ=', { reason: 'padding', offset: 3 }],
    ['QQ===', { reason: 'padding', offset: 4 }],
    ['QUJD=', { reason: 'padding', offset: 4 }],
    ['QQ==QUJD', { reason: 'padding', offset: 4 }],
    ['Q', { reason: 'cut', offset: 1 }],
    ['QUJDQ===', { reason: 'cut', offset: 5 }],
  ]
  for (const [text, flaw] of flaws) t.strictSame(decodeBase64(text), flaw, text)
})

t.test('white space of ASCII is skipped, and bits past the last byte are', async (t) => {
  for (const text of ['', ' ', 'QUJD', ' Q\tU\nJ\fD\r\n', 'QR==', 'QQ =\n=', 'QUK=']) {
    const found = decodeBase64(text)
    t.ok(found instanceof Uint8Array, JSON.stringify(text))
    t.strictSame([...(found as Uint8Array)], reference(text))
  }
})
