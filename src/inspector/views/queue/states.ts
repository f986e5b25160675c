// What the queue and its parts have in common.

import type { JobState } from '../../../flow/types.js'

export const states: readonly JobState[] = ['queued', 'active', 'delayed', 'dead', 'done']

/** Lists and counts are read anew so often at the most, while things happen. */
export const readAgainMs = 1000
