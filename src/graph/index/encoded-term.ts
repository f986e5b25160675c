import type { Term } from '../../types.js'
import { ENTITY, LITERAL } from './term-table.js'

/** A term as an index has it. */
export function encodedTerm({ v, e }: Term): { readonly view: DataView; readonly kind: number } {
  return { view: encodedText(v), kind: e ? ENTITY : LITERAL }
}

export function encodedText(text: string): DataView {
  const bytes = Buffer.from(text, 'utf8')
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
