// One page after the other, until there are as many as are wanted.

export interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string | undefined
  readonly total?: number | undefined
}

export type Read<T> = (after: string | undefined, limit: number) => Promise<Page<T>>

/** A server gives no more at a time. */
const mostAtOnce = 1000

/**
 * @param wanted how many more; fewer come where a page is not full
 * @param least so many all the same, where there are: a page may have few, and others behind it
 */
export async function readOn<T>(
  read: Read<T>,
  before: readonly T[],
  after: string | undefined,
  wanted: number,
  least = 0,
): Promise<Page<T>> {
  const items = [...before]
  let page: Page<T> = { items, next: after }
  let left = wanted
  do {
    const limit = Math.min(left, mostAtOnce)
    page = await read(page.next, limit)
    items.push(...page.items)
    left -= page.items.length
    if (page.items.length < limit && items.length >= least) break
  } while (left > 0 && page.next !== undefined)
  return { items, next: page.next, total: page.total }
}
