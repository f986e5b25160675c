// What the queue and its parts have in common.

import type { JobState } from '../../../flow/types.js'

export const states: readonly JobState[] = ['queued', 'active', 'delayed', 'dead', 'done']
