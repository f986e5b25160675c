// Where the page is: what stands behind the hash of its address, so that it can be kept, sent and gone back to.
// A token is never part of it.

import { useEffect, useState } from 'preact/hooks'

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

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    // It may have changed before this hears of it.
    follow()
    return () => removeEventListener('hashchange', follow)
  }, [])
  return placeIn(hash)
}

/** Goes there: one step back is where it was. */
export function go(hash: string): void {
  location.hash = hash
}

/** Says in the address what a filter is now. No step of its own for who goes back. */
export function refine(hash: string): void {
  history.replaceState(undefined, '', hash)
  dispatchEvent(new HashChangeEvent('hashchange'))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
