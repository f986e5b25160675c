// What a client accepts: RFC 9110, section 12.5.1.

/** That of the formats which the client likes best, the first of those it likes as much. */
export function negotiate<T extends { readonly mediaType: string }>(
  accept: string | undefined,
  formats: readonly T[],
): T | undefined {
  if (accept === undefined || accept.trim() === '') return formats[0]
  const ranges = accept.split(',').map(rangeOf)
  let best: { format: T; quality: number } | undefined
  for (const format of formats) {
    const quality = qualityOf(format.mediaType, ranges)
    if (quality > (best?.quality ?? 0)) best = { format, quality }
  }
  return best?.format
}

/** Whether that type is named, and liked no less than the other. */
export function isPreferred(accept: string | undefined, mediaType: string, other: string): boolean {
  const ranges = (accept ?? '').split(',').map(rangeOf)
  const quality = ranges.find(({ type }) => type === mediaType)?.quality ?? 0
  return quality > 0 && quality >= qualityOf(other, ranges)
}

interface MediaRange {
  readonly type: string
  readonly quality: number
}

function rangeOf(text: string): MediaRange {
  const [type, quality] = weighted(text)
  return { type, quality }
}

/** One of what a header lists, in small letters and without parameters, and how much it is liked. */
export function weighted(text: string): readonly [name: string, quality: number] {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = weight === undefined ? 1 : Number(weight.slice(2) || NaN)
  // A weight that is none says nothing against it.
  return [name, quality >= 0 && quality <= 1 ? quality : 1]
}

/** The most specific range that names it decides. */
function qualityOf(mediaType: string, ranges: readonly MediaRange[]): number {
  const [group] = mediaType.split('/')
  for (const name of [mediaType, `${group}/*`, '*/*']) {
    const range = ranges.find(({ type }) => type === name)
    if (range) return range.quality
  }
  return 0
}
