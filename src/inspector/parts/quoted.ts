// Texts in quotes, as JSON and N-Triples have them.

/**
 * Behind the quote that ends a text, in UTF-16 code units. Letter by letter: an expression for it would keep a place to
 * go back to for each of them, and has no room for millions.
 *
 * @param start of the quote that begins it
 * @throws SyntaxError where it does not end
 */
export function endOfQuoted(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const letter = text[at]
    if (letter === '"') return at + 1
    if (letter === '\\') at++
  }
  throw new SyntaxError('a text in quotes does not end')
}
