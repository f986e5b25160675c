// The case of letters. Those of ASCII are told without an expression of all of Unicode, which takes long to make.

/** Whether a capital letter stands at a place of a text. */
export function isUpperAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 0x80) return code >= 0x41 && code <= 0x5a
  return /^\p{Lu}/u.test(text.slice(at, at + 2))
}

/** Whether a small letter stands there. */
export function isLowerAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 0x80) return code >= 0x61 && code <= 0x7a
  return /^\p{Ll}/u.test(text.slice(at, at + 2))
}
