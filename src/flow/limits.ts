import { limit, type LimitTable } from '../door/limits.js'
import { longestTimer } from '../door/rules.js'
import type { FlowLimits } from './types.js'

export const flowLimits: LimitTable<FlowLimits> = {
  maxTextBytes: limit(10 * 1024 ** 2, 0),
  maxMetadataTriples: limit(1000, 0),
  maxFileBytes: limit(32 * 1024 ** 2, 0),
  maxFilePages: limit(5000),
  maxFileMs: limit(60_000, 1, longestTimer),
  // Less than the parser of PDFs needs to begin with is of no use.
  maxFileMemoryMb: limit(256, 32, 64 * 1024),
}
