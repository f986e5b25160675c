import { limit, type LimitTable } from '../door/limits.js'
import type { FlowLimits } from './types.js'

export const flowLimits: LimitTable<FlowLimits> = {
  maxTextBytes: limit(10 * 1024 ** 2, 0),
  maxMetadataTriples: limit(1000, 0),
}
