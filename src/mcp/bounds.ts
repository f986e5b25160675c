// How long an answer may be. Tokens are reckoned as four bytes of UTF-8 each: near enough for English, and more
// careful with other scripts than a count of characters. An answer comes twice, as text and as an object, of which
// assistants pass one on: each of the two keeps the bound.

import type { Fields } from '../door/wording.js'
import type { JsonObject, JsonValue } from '../types.js'
import { count } from './fields.js'

const bytesPerToken = 4

export const defaultTokens = 2000

export const maxTokens = count(500, 20_000, defaultTokens)

/** More follows, and no `after` leads to it. */
export const outOfReach = Symbol('out of reach')

/** Undefined where nothing follows. */
export type Following = string | undefined | typeof outOfReach

export interface Listing<Item extends object> {
  /** Of the items, in the object. */
  readonly name: string
  readonly items: readonly Item[]
  /** What one is in the text. `at` is its place among those of this answer, from 0. */
  readonly textOf: (item: Item, at: number) => string
  /** What the object has beside them, and the first line of the text. */
  readonly beside?: JsonObject
  readonly heading: string
  /** What is said where there are none. */
  readonly nothing: string
  /** What to pass as `after` behind the first `shown` of the items. */
  readonly next: (shown: number) => Following | Promise<Following>
}

export interface Answer {
  readonly text: string
  readonly object: JsonObject
}

/** An answer of at most so many tokens. */
export type Bounded = (tokens: number) => Answer | Promise<Answer>

export function listing<Item extends object>(list: Listing<Item>): Bounded {
  return (tokens) => answerOf(list, tokens * bytesPerToken, bytesOfEnd)
}

/** Of one thing: what is too long in it ends in …. */
export function single(item: JsonObject, textOf: (item: JsonObject) => string): Bounded {
  return (tokens) => {
    const [{ text, item: object }] = shortPart(item, textOf, tokens * bytesPerToken)
    return { text, object }
  }
}

/** What says that the answer was cut, and a cursor that is not long. */
const bytesOfEnd = 240

/** The first of the items, as many as there is room for; one alone that is too long is shortened. */
async function answerOf<Item extends object>(
  list: Listing<Item>,
  most: number,
  reserved: number,
): Promise<Answer> {
  const { name, items, next } = list
  const { shown, texts, beside, isShortened } = itemsIn(list, most - reserved)
  const isCut = isShortened || shown.length < items.length
  const following = await next(shown.length)
  // Ids may be such that a cursor takes more than an answer has.
  const isLong = typeof following === 'string' && bytesOf(following) > most / 4
  const isLast = following === outOfReach
  const after = isLong || isLast ? undefined : following
  const text = [...texts, ...endOf({ isCut, isShortened, isLong, isLast, after })].join('\n')
  const object = {
    ...beside,
    [name]: shown as unknown as JsonValue,
    truncated: isCut || isLong || isLast,
    ...(after !== undefined && { next: after }),
  }
  const over = Math.max(bytesOf(text), jsonBytesOf(object)) - most
  if (over <= 0 || reserved >= most) return { text, object }
  // Cursors may have long names in them.
  return answerOf(list, most, reserved + over)
}

function itemsIn<Item extends object>(
  { items, textOf, beside = {}, heading, nothing }: Listing<Item>,
  room: number,
) {
  const [head] = shortPart(beside, () => (items.length === 0 ? nothing : heading), room / 2)
  const shown: Item[] = []
  const texts = [head.text]
  let left = room - head.bytes
  for (const [at, item] of items.entries()) {
    const [part, isShort] =
      at === 0
        ? shortPart(item, (short) => textOf(short, at), left)
        : [partOf(item, textOf(item, at)), false]
    if (at > 0 && part.bytes > left) break
    shown.push(part.item)
    texts.push(part.text)
    left -= part.bytes
    if (isShort) return { shown, texts, beside: head.item, isShortened: true }
  }
  return { shown, texts, beside: head.item, isShortened: false }
}

interface End {
  readonly isCut: boolean
  readonly isShortened: boolean
  readonly isLong: boolean
  readonly isLast: boolean
  readonly after: string | undefined
}

function endOf({ isCut, isShortened, isLong, isLast, after }: End): string[] {
  const parts = [
    ...(isCut || isLong ? ['This answer was cut to max_tokens.'] : []),
    ...(isShortened ? ['What ends in … is longer: a higher max_tokens shows more of it.'] : []),
    ...(isLong ? ['More follows, after a long id: a higher max_tokens leads to it.'] : []),
    ...(isLast ? ['More follows, and is not told: narrow the question to see it.'] : []),
    ...(after === undefined ? [] : [`For what follows, ask the same with after: "${after}".`]),
  ]
  return parts.length === 0 ? [] : [parts.join(' ')]
}

interface Part<Item> {
  readonly item: Item
  readonly text: string
  /** The more of what it takes in the text and in the object. */
  readonly bytes: number
}

function partOf<Item>(item: Item, text: string): Part<Item> {
  // A line feed, and a comma.
  return { item, text, bytes: Math.max(bytesOf(text), jsonBytesOf(item)) + 1 }
}

/**
 * Where it is too long, texts and lists in it become shorter until it fits; whether they did. The longest that fits is
 * looked for by halves: one of a megabyte that was copied for each length took seconds.
 */
function shortPart<Item extends object>(
  item: Item,
  textOf: (item: Item) => string,
  room: number,
): readonly [part: Part<Item>, isShortened: boolean] {
  const whole = partOf(item, textOf(item))
  if (whole.bytes <= room) return [whole, false]
  const lengths: number[] = []
  for (let most = Math.ceil(room); most > 0; most = Math.floor(most * shorter)) lengths.push(most)
  let fitting: Part<Item> | undefined
  for (let [low, high] = [0, lengths.length]; low < high;) {
    const middle = (low + high) >> 1
    const part = partWithin(lengths[middle] ?? 0)
    if (part === undefined) low = middle + 1
    else {
      fitting = part
      high = middle
    }
  }
  // Members in members in members: nothing of ours.
  return [fitting ?? partOf({} as Item, '{…}'), true]

  function partWithin(most: number): Part<Item> | undefined {
    const short = shortened(item, most, room) as Item | undefined
    if (short === undefined) return undefined
    const part = partOf(short, cut(textOf(short), Math.max(most, leastText)))
    return part.bytes <= room ? part : undefined
  }
}

/**
 * Of each text the first `most` UTF-16 code units, of each list and object the first `most` members. Undefined where
 * that has more than `room` bytes as JSON, of which no more is copied than shows it.
 */
function shortened(value: object, most: number, room: number): unknown {
  let left = room
  const short = within(value, most)
  return left < 0 ? undefined : short

  function within(value: unknown, most: number): unknown {
    if (typeof value === 'string') {
      const text = cut(value, most)
      left -= text.length + 2
      return text
    }
    left -= 1
    if (typeof value !== 'object' || value === null) return value
    // Each member has a comma, or a bracket, a name quotes and a colon.
    if (Array.isArray(value)) {
      const items: unknown[] = []
      for (const item of value.slice(0, most)) {
        if (left < 0) break
        left -= 1
        items.push(within(item, most))
      }
      return items
    }
    const longest = Math.max(leastName, Math.min(most, longestName))
    const members = new Map<string, unknown>()
    for (const key of Object.keys(value).slice(0, Math.max(most, leastMembers))) {
      if (left < 0) break
      const member = (value as Fields)[key]
      const name = cut(key, longest)
      // Names that begin alike.
      if (members.has(name)) continue
      left -= name.length + 4
      members.set(name, within(member, typeof member === 'string' ? most : Math.floor(most / 2)))
    }
    return Object.fromEntries(members)
  }
}

const shorter = 0.8
/** What every item of ours has fits in so much. */
const [leastMembers, leastName, longestName, leastText] = [10, 12, 100, 200]

export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text)
}

function jsonBytesOf(value: unknown): number {
  return bytesOf(JSON.stringify(value))
}
