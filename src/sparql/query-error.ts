import { Problems } from '../door/problems.js'
import { LorekeepError } from '../errors.js'

/** What is wrong with a query, which is one text: its path is the whole. */
export function queryError(
  message: string,
  { line, cause }: { readonly line?: number | undefined; readonly cause?: unknown } = {},
): LorekeepError {
  const problems = new Problems()
  problems.fail('', message)
  return new LorekeepError('LK_GRAPH_QUERY', message, {
    details: { ...problems.details, ...(line !== undefined && { line }) },
    ...(cause !== undefined && { cause }),
  })
}
