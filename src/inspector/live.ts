// When to look again: something happened to a job. It rests while nobody looks.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { WatchQuery } from '../flow/types.js'
import { useSession } from './session.js'

export interface Live {
  readonly status: 'live' | 'paused' | 'away'
  /** Another number whenever there may be something new. */
  readonly turn: number
  readonly lookAgain: () => void
}

type About = Pick<WatchQuery, 'job' | 'user' | 'document'>

/** How old at the most is what is shown, beside the time that an answer takes. */
const steadyMs = 1500

/** It is looked at most so often while much happens; once more after the last event, so that nothing is missed. */
const readAgainMs = 1000

/** So long it is waited before events are asked for once more, where the server gave none. */
const connectAgainMs = 5000

/**
 * @param about what alone it is about
 * @param isSteady whether it may change without an event
 */
export function useLive(about: About = {}, isSteady = true): Live {
  const { keep } = useSession()
  const [turn, setTurn] = useState(0)
  const [status, setStatus] = useState<Live['status']>('away')
  const isSeen = useVisible()
  const lookAgain = useRef(() => setTurn((turn) => turn + 1)).current
  useEffect(() => {
    if (!isSeen) {
      setStatus('paused')
      return
    }
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let next: ReturnType<typeof setTimeout> | undefined
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        lookAgain()
      }, readAgainMs)
    }
    const watch = async () => {
      const onConnected = () => {
        setStatus('live')
        lookAgain()
      }
      const { signal } = leaving
      for await (const event of keep.flows.watch({ ...about, signal, onConnected })) {
        if (event.type !== 'progress') soon()
      }
    }
    const begin = () => {
      watch().then(
        () => setStatus('paused'),
        () => {
          if (leaving.signal.aborted) return
          setStatus('away')
          next = setTimeout(begin, connectAgainMs)
        },
      )
    }
    begin()
    return () => {
      leaving.abort()
      clearTimeout(timer)
      clearTimeout(next)
    }
  }, [isSeen, about.job, about.user, about.document])
  useEffect(() => {
    if (!isSeen || !isSteady) return
    // A job that falls due, or is changed by another process, tells nobody.
    const steady = setInterval(lookAgain, steadyMs)
    return () => clearInterval(steady)
  }, [isSeen, isSteady])
  return { status, turn, lookAgain }
}

/** One more each time, while the tab is looked at. */
export function useTicks(everyMs: number): number {
  const [ticks, setTicks] = useState(0)
  const isSeen = useVisible()
  useEffect(() => {
    if (!isSeen) return
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), everyMs)
    return () => clearInterval(timer)
  }, [isSeen, everyMs])
  return ticks
}

function useVisible(): boolean {
  const [isVisible, setIsVisible] = useState(!document.hidden)
  useEffect(() => {
    const follow = () => setIsVisible(!document.hidden)
    document.addEventListener('visibilitychange', follow)
    return () => document.removeEventListener('visibilitychange', follow)
  }, [])
  return isVisible
}
