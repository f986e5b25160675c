// A list that grows by pages as somebody asks for more.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Asked } from '../asking.js'
import { readOn, type Read } from './reading-on.js'

export interface Pages<T> extends Asked<readonly T[]> {
  readonly total: number | undefined
  /** `undefined` where this is all. What is under way is awaited. */
  readonly more: (() => void) | undefined
}

/**
 * Begins anew whenever one of the keys changes; again() reads as much as was there, and shows it at once. What fails
 * leaves what is there.
 */
export function usePages<T>(read: Read<T>, keys: readonly unknown[], size = 50): Pages<T> {
  const [state, setState] = useState<State<T>>(unread)
  const latest = useRef(read)
  latest.current = read
  const own = useRef<Own<T>>({ state: unread, turn: 0, isBusy: false, wanted: new Set() }).current
  const show = (state: State<T>) => {
    own.state = state
    setState(state)
  }
  const start = (what: Wanted) => {
    if (own.isBusy) {
      // What is under way is answered first, so that a slow server is not asked in vain.
      own.wanted.add(what)
      return
    }
    const { items = [], next } = own.state
    if (what === 'more' && next === undefined) return
    const turn = ++own.turn
    own.isBusy = true
    show({ ...own.state, isBusy: true })
    const reading =
      what === 'more'
        ? readOn(latest.current, items, next, size)
        : readOn(latest.current, [], undefined, Math.max(size, items.length), items.length)
    const settle = (state: State<T>) => {
      if (turn !== own.turn) return
      own.isBusy = false
      show(state)
      if (own.wanted.delete('more')) start('more')
      if (!own.isBusy && own.wanted.delete('again')) start('again')
    }
    reading.then(
      (page) => settle({ ...page, isBusy: false }),
      (error: unknown) => settle({ ...own.state, error, isBusy: false }),
    )
  }
  useEffect(() => {
    Object.assign(own, { state: unread, isBusy: false })
    own.wanted.clear()
    start('again')
    return () => {
      own.turn++
    }
  }, keys)
  const { items, next, total, error, isBusy } = state
  return {
    value: items,
    error,
    isBusy,
    total,
    again: () => start('again'),
    more: next === undefined ? undefined : () => start('more'),
  }
}

type Wanted = 'more' | 'again'

interface Own<T> {
  state: State<T>
  /** Of what was begun last. */
  turn: number
  isBusy: boolean
  readonly wanted: Set<Wanted>
}

interface State<T> {
  readonly items?: readonly T[]
  readonly next?: string | undefined
  readonly total?: number | undefined
  readonly error?: unknown
  readonly isBusy: boolean
}

const unread = { isBusy: true }
