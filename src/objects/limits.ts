import { limit, type LimitTable } from '../door/limits.js'
import { longestTimer } from '../door/rules.js'
import type { ObjectLimits } from './types.js'

export const objectLimits: LimitTable<ObjectLimits> = {
  maxBatchObjects: limit(10_000),
  maxObjectBytes: limit(1024 ** 2),
  maxQueryLimit: limit(1000),
  maxQueryObjects: limit(10_000_000),
  maxQueryMs: limit(30_000, 1, longestTimer),
}
