import type { ByteSource } from '../byte-source.js'
import type { CoreMessage } from '../types.js'
import type { RdfExtras } from './extras.js'
import { defaultLoss, parseRdf } from './parse.js'
import type { RdfParseOptions } from './parse.js'

/** Beside the summary of an import: what of the text is more than three texts a statement. */
export interface RdfRest {
  /** What the terms and triples have, with loss `keep`. */
  readonly kept?: RdfExtras
  /** What was left out, with loss `drop`. */
  readonly lost?: RdfExtras
  /** What was kept as reified statements, with loss `reify`. */
  readonly reified?: RdfExtras
}

/** Parses a text, has its messages stored, and says beside the summary what became of the rest. */
export async function importRdf<Summary>(
  source: ByteSource,
  options: RdfParseOptions,
  store: (messages: AsyncIterable<CoreMessage>) => Promise<Summary>,
): Promise<Summary & RdfRest> {
  const messages = parseRdf(source, options)
  const summary = await store(messages)
  const { loss = defaultLoss } = options
  const { extras } = messages
  const rest = {
    keep: { kept: extras },
    drop: { lost: extras },
    reify: { reified: extras },
    refuse: {},
  }
  return { ...summary, ...rest[loss] }
}
