import { parseJson } from '../json-text.js'
import { tooLarge, unreadable } from './faults.js'
import type { Member } from './members.js'
import type { WorkspaceLimits } from './types.js'

/** @throws LorekeepError `LK_WORKSPACE_FORMAT`, `LK_WORKSPACE_TOO_LARGE` */
export async function readJson(
  { tar, name: member }: Member,
  { maxJsonBytes }: Pick<WorkspaceLimits, 'maxJsonBytes'>,
): Promise<unknown> {
  if (tar.size > maxJsonBytes) {
    const reason = `it has ${tar.size} bytes, more than ${maxJsonBytes} (maxJsonBytes)`
    throw tooLarge(reason, { member, maxJsonBytes })
  }
  const bytes = await readAll(tar.content)
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'its bytes are not UTF-8'
    throw unreadable(`it is not JSON: ${reason}`, { member })
  }
}

export async function readAll(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks)
}
