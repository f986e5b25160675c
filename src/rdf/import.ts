import type { ByteSource, ImportSummary } from '../knowledge/types.js'
import type { CoreMessage } from '../types.js'
import type { RdfExtras } from './extras.js'
import { parseRdf } from './parse.js'
import type { RdfParseOptions } from './parse.js'

export interface RdfImportSummary extends ImportSummary {
  /** What was left out, with loss `drop`. */
  readonly lost?: RdfExtras
  /** What was kept as reified statements, with loss `reify`. */
  readonly reified?: RdfExtras
}

/** Parses a text, has its messages stored, and says beside the summary what became of the rest. */
export async function importRdf(
  source: ByteSource,
  options: RdfParseOptions,
  store: (messages: AsyncIterable<CoreMessage>) => Promise<ImportSummary>,
): Promise<RdfImportSummary> {
  const messages = parseRdf(source, options)
  const summary = await store(messages)
  const { loss = 'drop' } = options
  if (loss === 'refuse') return summary
  return { ...summary, [loss === 'drop' ? 'lost' : 'reified']: messages.extras }
}
