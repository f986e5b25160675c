import { codecLimits, type CodecLimits } from '../codec/limits.js'
import { limit, type LimitTable } from '../door/limits.js'

export interface KnowledgeLimits extends CodecLimits {
  /** The bytes of one import. 4 GiB by default. */
  readonly maxCoreBytes: number
}

export const knowledgeLimits: LimitTable<KnowledgeLimits> = {
  ...codecLimits,
  maxCoreBytes: limit(4 * 1024 ** 3),
}
