import { readFile } from '../../../src/flow/files/read.js'
import type { StructuredText } from '../../../src/flow/files/structured-text.js'
import type { FileType } from '../../../src/flow/files/types.js'
import type { UnreadableReason } from '../../../src/flow/files/unreadable.js'

export const limits = { maxFilePages: 100, maxFileMemoryMb: 64, maxTextLength: 1_000_000 }

/** Without a thread. */
export function read(
  type: FileType,
  file: string | Uint8Array,
  other: Partial<typeof limits> = {},
): Promise<StructuredText> {
  const bytes = Buffer.from(file as string)
  return readFile({ type, bytes, limits: { ...limits, ...other } })
}

/** Each heading with its level, where it stands and what stands there. */
export function headingsOf({ text, headings }: StructuredText): string[] {
  return headings.map(({ level, text: heading, start, end }) => {
    const there = text.slice(start, end)
    return `${level} ${heading}${there === heading ? '' : ` (${JSON.stringify(there)})`}`
  })
}

/** What each page begins with. */
export function pagesOf({ text, pages }: StructuredText): string[] {
  return pages.map(({ page, start }) => `${page} ${text.slice(start, start + 12)}`)
}

/** What reading is rejected with. */
export function because(reason: UnreadableReason): Error {
  return Object.assign(new Error(), { reason })
}
