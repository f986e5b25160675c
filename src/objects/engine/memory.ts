import type { Block } from './block.js'
import type { IdHash } from './hash.js'
import type { IdFilters } from './id-filters.js'
import type { EntryPages } from './list.js'
import type { Pages } from './pages.js'

/** What was read or written lately. */
export interface Memory {
  readonly blocks: Pages<Block>
  readonly entries: EntryPages
  readonly filters: IdFilters
  readonly hash: IdHash
}
