// Tokens for a server.

/** What fits behind `Bearer` in a header. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}

export const tokenRule = 'one or more printable ASCII characters without spaces'
