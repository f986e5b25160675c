import { limit, type LimitTable } from '../door/limits.js'
import type { WorkspaceLimits } from './types.js'

export const workspaceLimits: LimitTable<WorkspaceLimits> = {
  maxUnpackedBytes: limit(64 * 1024 ** 3),
  maxRatio: limit(500),
  maxMembers: limit(2_000_000),
  // Both are strings at some time, and the second is one of base64.
  maxJsonBytes: limit(16 * 1024 ** 2, 1, 256 * 1024 ** 2),
  maxDocumentBytes: limit(256 * 1024 ** 2, 0, 256 * 1024 ** 2),
}
