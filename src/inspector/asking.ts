// What a view asks the server, and what came of it.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

export interface Asked<T> {
  /** What was answered last, to this question and to no other; it stays while that is asked again, and where it fails. */
  readonly value: T | undefined
  /** Why there is none, or none that is newer. */
  readonly error: unknown
  readonly isBusy: boolean
  readonly again: () => void
}

/**
 * Asks whenever one of the keys changes. What is under way then is given up; what is to be asked again has its answer
 * first, so that whoever is told of more than a slow server answers still sees something.
 */
export function useAsked<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
): Asked<T> {
  const [state, setState] = useState<State<T>>({ ...nothing, keys })
  const [turn, setTurn] = useState(0)
  const latest = useRef(ask)
  latest.current = ask
  const running = useRef({ isBusy: false, isWanted: false }).current
  useEffect(() => {
    const leaving = new AbortController()
    const settle = (change: (state: State<T>) => State<T>) => {
      if (leaving.signal.aborted) return
      running.isBusy = false
      setState(change)
      if (running.isWanted) setTurn((turn) => turn + 1)
    }
    Object.assign(running, { isBusy: true, isWanted: false })
    setState((state) => ({ ...(isSame(state.keys, keys) ? state : nothing), keys, isBusy: true }))
    latest.current(leaving.signal).then(
      (value) => settle(() => ({ keys, value, error: undefined, isBusy: false })),
      (error: unknown) => settle((state) => ({ ...state, error, isBusy: false })),
    )
    return () => leaving.abort()
  }, [...keys, turn])
  const again = useCallback(() => {
    if (running.isBusy) running.isWanted = true
    else setTurn((turn) => turn + 1)
  }, [])
  const { value, error, isBusy } = isSame(state.keys, keys) ? state : nothing
  return { value, error, isBusy, again }
}

interface State<T> {
  /** Of the question that it is about. */
  readonly keys: readonly unknown[]
  readonly value: T | undefined
  readonly error: unknown
  readonly isBusy: boolean
}

const nothing = { value: undefined, error: undefined, isBusy: true }

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.every((key, at) => Object.is(key, others[at]))
}

export interface Doing {
  readonly isBusy: boolean
  readonly error: unknown
  /** Resolves when it is done, or has failed. */
  readonly start: (work: () => Promise<void>) => Promise<void>
}

/** Something that a person starts: one at a time. */
export function useDoing(): Doing {
  const [state, setState] = useState<Omit<Doing, 'start'>>({ isBusy: false, error: undefined })
  const isBusy = useRef(false)
  const start = useCallback(async (work: () => Promise<void>) => {
    if (isBusy.current) return
    isBusy.current = true
    setState({ isBusy: true, error: undefined })
    try {
      await work()
      setState({ isBusy: false, error: undefined })
    } catch (error) {
      setState({ isBusy: false, error })
    } finally {
      isBusy.current = false
    }
  }, [])
  return { ...state, start }
}

/** The value of a field a moment after it was last typed in. */
export function useSettled<T>(value: T, ms = 250): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
