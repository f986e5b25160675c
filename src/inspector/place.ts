// Where the page is: what stands behind the hash of its address, so that it can be kept, sent and gone back to.
// A token is never part of it.

import { useEffect, useState } from 'preact/hooks'
import { texts } from './texts.js'

export interface Place {
  readonly view: string
  /** What the view is about, such as the id of a core. */
  readonly subject: string | undefined
  readonly query: Readonly<Record<string, string>>
}

function placeIn(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const slash = path.indexOf('/')
  const view = slash < 0 ? path : path.slice(0, slash)
  const subject = slash < 0 ? undefined : decoded(path.slice(slash + 1))
  return { view, subject, query: Object.fromEntries(new URLSearchParams(query)) }
}

/** What is empty is left out. */
export function hashOf(
  view: string,
  subject?: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter(([, value]) => value) as [string, string][]
  const text = new URLSearchParams(given).toString()
  return `#/${view}${subject === undefined ? '' : `/${encodeURIComponent(subject)}`}${text && `?${text}`}`
}

/** What the browser keeps with each step of its history. */
interface Mark {
  /** How many had signed out in this tab before. */
  readonly left: number
  /** Which step it is, for who is to be led back to the one before. */
  readonly at: number
}

/** Lasts as long as the history of a tab. */
const left = 'lorekeep.left'

const holds = new Set<() => boolean>()
const watchers = new Set<() => void>()
let shown = arrived(0)
addEventListener('hashchange', follow)
// Between two steps with one address there is no other event.
addEventListener('popstate', () => location.hash === shown.hash && follow())
addEventListener('beforeunload', (event) => {
  if (isHeld()) event.preventDefault()
})

export function usePlace(): Place {
  const [hash, setHash] = useState(shown.hash)
  useEffect(() => {
    const follow = () => setHash(shown.hash)
    watchers.add(follow)
    // It may have changed before this hears of it.
    follow()
    return () => watchers.delete(follow)
  }, [])
  return placeIn(hash)
}

/** Goes there: one step back is where it was. */
export function go(hash: string): void {
  location.hash = hash
}

/** Says in the address what a filter is now. No step of its own for who goes back. */
export function refine(hash: string): void {
  const mark: Mark = { left: leftSoFar(), at: shown.at }
  history.replaceState(mark, '', hash)
  shown = { hash: location.hash, at: shown.at }
  tell()
}

/** Somebody signs out: no address of before is shown again, or asked by who comes next. */
export function forget(): void {
  sessionStorage.setItem(left, String(leftSoFar() + 1))
  refine(hashOf('ask'))
}

/**
 * Who goes elsewhere, or closes the page, is asked first while it is so.
 *
 * @returns what ends that
 */
export function hold(isHeld: () => boolean): () => void {
  holds.add(isHeld)
  return () => holds.delete(isHeld)
}

function follow(): void {
  const next = arrived(shown.at + 1)
  if (next.hash !== shown.hash && isHeld() && !confirm(texts.leave)) {
    history.go(shown.at - next.at)
    return
  }
  shown = next
  tell()
}

/** @param at which step a new one is */
function arrived(at: number): { readonly hash: string; readonly at: number } {
  const mark = history.state as Mark | null
  const now = leftSoFar()
  if (mark === null) history.replaceState({ left: now, at } satisfies Mark, '')
  else if (mark.left < now) history.replaceState({ ...mark, left: now }, '', hashOf('ask'))
  return { hash: location.hash, at: mark?.at ?? at }
}

function tell(): void {
  for (const watcher of watchers) watcher()
}

function isHeld(): boolean {
  return [...holds].some((isHeld) => isHeld())
}

function leftSoFar(): number {
  return Number(sessionStorage.getItem(left))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
