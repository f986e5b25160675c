// A list that grows by pages as somebody asks for more.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Asked } from '../asking.js'

interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string | undefined
  readonly total?: number | undefined
}

export interface Pages<T> extends Asked<readonly T[]> {
  readonly total: number | undefined
  /** `undefined` where this is all. */
  readonly more: (() => void) | undefined
}

/** Begins anew whenever one of the keys changes; again() reads as much as was there, and shows it at once. */
export function usePages<T>(
  read: (after: string | undefined, limit: number) => Promise<Page<T>>,
  keys: readonly unknown[],
  size = 50,
): Pages<T> {
  const [state, setState] = useState<State<T>>({ isBusy: true })
  const latest = useRef(read)
  latest.current = read
  const turn = useRef(0)
  const running = useRef({ isBusy: false, isWanted: false }).current
  const load = (items: readonly T[], after: string | undefined, limit: number) => {
    const own = ++turn.current
    Object.assign(running, { isBusy: true, isWanted: false })
    const settle = (state: State<T>) => {
      if (own !== turn.current) return
      running.isBusy = false
      setState(state)
      if (running.isWanted) load([], undefined, againLimit(state.items))
    }
    setState((state) => ({ ...state, isBusy: true }))
    latest.current(after, limit).then(
      (page) => {
        const { next, total } = page
        settle({ items: [...items, ...page.items], next, total, isBusy: false })
      },
      (error: unknown) => settle({ error, isBusy: false }),
    )
  }
  const againLimit = (items: readonly T[] = []) => Math.min(Math.max(size, items.length), 1000)
  useEffect(() => {
    setState({ isBusy: true })
    load([], undefined, size)
    return () => {
      turn.current++
    }
  }, keys)
  const { items, next, total, error, isBusy } = state
  const shown = items ?? []
  return {
    value: items,
    error,
    isBusy,
    total,
    again: () => {
      // What is under way is answered first, so that a slow server is not asked in vain.
      if (running.isBusy) running.isWanted = true
      else load([], undefined, againLimit(items))
    },
    more: next === undefined || isBusy ? undefined : () => load(shown, next, size),
  }
}

interface State<T> {
  readonly items?: readonly T[]
  readonly next?: string | undefined
  readonly total?: number | undefined
  readonly error?: unknown
  readonly isBusy: boolean
}
