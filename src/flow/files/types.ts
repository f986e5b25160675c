import type { StructuredText } from './structured-text.js'
import type { Fault } from './unreadable.js'

/** What is read of the types of files: the media type, and what people call it. */
export const fileTypes = {
  'text/markdown': 'Markdown',
  'text/html': 'HTML',
  'text/csv': 'CSV',
  'text/tab-separated-values': 'TSV',
  'application/json': 'JSON',
  'application/pdf': 'PDF',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'DOCX',
  'application/epub+zip': 'EPUB',
} as const

export type FileType = keyof typeof fileTypes

export function isFileType(type: string): type is FileType {
  return Object.hasOwn(fileTypes, type)
}

/** What reading a file may take. */
export interface FileLimits {
  readonly maxFilePages: number
  readonly maxFileMs: number
  readonly maxFileMemoryMb: number
  /** UTF-16 code units. */
  readonly maxTextLength: number
}

export type ReadLimits = Pick<FileLimits, 'maxFilePages' | 'maxTextLength' | 'maxFileMemoryMb'>

/** To the thread. */
export interface ReadRequest {
  readonly type: FileType
  readonly bytes: Uint8Array
  readonly limits: ReadLimits
}

/** From the thread. */
export type ReadAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'text'; readonly text: StructuredText }
  | { readonly type: 'fault'; readonly fault: Fault }
