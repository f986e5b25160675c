// What a file that is no core stream looks like. People do upload Turtle.

/**
 * Names the format that the beginning of a file shows, or undefined. MessagePack core streams
 * begin with 0x92, 0xdc or 0xdd; all that is recognised here begins otherwise.
 */
export function guessFormat(beginning: Uint8Array): string | undefined {
  const [first, second] = beginning
  if (first === 0x1f && second === 0x8b)
    return 'gzip data: decompress it first, or import it as a workspace (tgx)'
  if (first === 0x28 && second === 0xb5) return 'Zstandard data: decompress it first'
  if (first === 0x50 && second === 0x4b) return 'a zip archive'
  const text = Buffer.from(beginning.subarray(0, 512))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
  if (/[\x00-\x08\x0e-\x1a]/.test(text)) return undefined
  const start = text.trimStart()
  if (/^(@prefix|@base|prefix\s|base\s)/i.test(start)) return 'RDF in Turtle'
  if (/^<\?xml|^<!DOCTYPE|^<rdf:/i.test(start)) return 'XML'
  if (/^<html/i.test(start)) return 'HTML'
  if (/^(<[^>\s]*>|_:\S+)\s+<[^>\s]*>\s/.test(start)) return 'RDF in N-Triples, N-Quads or Turtle'
  if (/^[[{]/.test(start)) return 'JSON'
  if (/^%PDF/.test(start)) return 'a PDF'
  if (/^#/.test(start)) return 'text, perhaps RDF in Turtle'
  if (/^[\x20-\x7e]{8}/.test(start)) return 'plain text'
  return undefined
}

/** What to do with it, behind its name. */
export function adviceOn(guess: string): string {
  if (guess.includes('RDF')) return ': as RDF it is read where its format is named'
  if (guess === 'XML' || guess === 'JSON') {
    return ': of RDF, Turtle, TriG, N-Triples and N-Quads are read, where their format is named'
  }
  return ''
}
