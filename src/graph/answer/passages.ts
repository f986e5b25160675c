// The answer without a model: the passages, numbered.

import type { AnswerSource, Citation } from '../types.js'

/** One for each: `[1] News from Nowhere › A Morning Bath, page 3`, and below it the passage. */
export function passageTexts(sources: readonly AnswerSource[]): string[] {
  return sources.map(({ title, document, chunk, heading, page, text }, n) => {
    const section = heading === undefined ? '' : ` › ${heading}`
    const leaf = page === undefined ? '' : `, page ${page}`
    const head = `[${n + 1}] ${title ?? document?.v ?? chunk.v}${section}${leaf}`
    return `${n === 0 ? '' : '\n'}${head.replace(/\s+/g, ' ')}\n${text.trim()}\n`
  })
}

/** The numbers in front of them: what else stands in brackets is the passages' own. */
export function passageCitations(sources: readonly AnswerSource[]): Citation[] {
  let at = 0
  return passageTexts(sources).map((text, n) => {
    const start = at + text.indexOf('[')
    at += text.length
    return { n: n + 1, source: sources[n] as AnswerSource, start, end: start + `[${n + 1}]`.length }
  })
}
