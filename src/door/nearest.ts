// What somebody may have meant by a name that does not exist.

/**
 * The candidate that differs from the name in case and underscores alone, or by one letter too
 * many, too few, wrong or swapped, or that begins with the name or the other way round. The names
 * come from clients, so each comparison is linear and there is an end to them.
 */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > longestName || candidates.length > mostCandidates) return undefined
  const plain = plainForm(name)
  return (
    candidates.find((candidate) => plainForm(candidate) === plain) ??
    candidates.find((candidate) => isOneEditAway(name, candidate)) ??
    candidates.find((candidate) => isBeginning(name, candidate) || isBeginning(candidate, name))
  )
}

/** `nearest()` as the end of a sentence, '' where nothing is near. */
export function didYouMean(name: string, candidates: readonly string[]): string {
  const found = nearest(name, candidates)
  return found === undefined ? '' : ` (did you mean '${found}'?)`
}

const longestName = 64
const mostCandidates = 200

function plainForm(name: string): string {
  return name.toLowerCase().replaceAll('_', '')
}

function isOneEditAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || Math.min(a.length, b.length) < 3) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  const most = Math.min(a.length, b.length) - start
  while (end < most && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const restA = a.slice(start, a.length - end)
  const restB = b.slice(start, b.length - end)
  if (restA.length <= 1 && restB.length <= 1) return true
  return restA.length === 2 && restB.length === 2 && restA[0] === restB[1] && restA[1] === restB[0]
}

function isBeginning(short: string, long: string): boolean {
  return short.length >= 3 && long.startsWith(short)
}
