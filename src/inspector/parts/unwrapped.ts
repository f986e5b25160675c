// Texts that were broken into lines at the width of somebody else's page.

/**
 * Its lines flow on, as paragraphs do; of the same length, so that places hold. A passage may begin in the middle of a
 * line: what goes on in small letters belongs to it.
 */
export function unwrapped(text: string): string {
  return text.replace(/([^\n]{50})\n(?=\S)/g, '$1 ').replace(/^([^\n]+)\n(?=\p{Ll})/u, '$1 ')
}

/** Without more than one empty line after another: pages had room for them. */
export function closedUp(text: string): string {
  return text.replace(/\n(?:[^\S\n]*\n){2,}/g, '\n\n')
}
