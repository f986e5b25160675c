// What a client accepts: RFC 9110, section 12.5.3.

import { weighted } from '../../accept.js'
import { codings } from './codings.js'
import type { Coding, Encode } from './codings.js'

export type AnswerCoding = Coding & { readonly encode: Encode }

const ofAnswers = codings.filter((coding): coding is AnswerCoding => coding.encode !== undefined)

export const codingsOfAnswers = ofAnswers.map(({ name }) => name)

export interface Accepted {
  /** The one to take; undefined where that is none. */
  readonly coding: AnswerCoding | undefined
  /** An answer that is not encoded is none. */
  readonly isIdentityRefused: boolean
}

const asItIs: Accepted = { coding: undefined, isIdentityRefused: false }

export function acceptedBy(header: string | undefined): Accepted {
  if (header === undefined) return asItIs
  const weights = weightsIn(header)
  const ofIdentity = weights.get('identity') ?? weights.get('*')
  let best: { coding: AnswerCoding; weight: number } | undefined
  for (const coding of ofAnswers) {
    const weight = weightOf(coding, weights)
    if (weight > (best?.weight ?? 0)) best = { coding, weight }
  }
  const isIdentityRefused = ofIdentity === 0
  // Not named, it is what is left; named, it is liked as much as is said.
  const isLiked = best !== undefined && best.weight >= (weights.get('identity') ?? 0)
  return { coding: isLiked || isIdentityRefused ? best?.coding : undefined, isIdentityRefused }
}

/** Whether an answer in the coding of that name may be sent. */
export function isAccepted(header: string | undefined, name: string): boolean {
  const coding = ofAnswers.find((coding) => coding.name === name)
  return header !== undefined && coding !== undefined && weightOf(coding, weightsIn(header)) > 0
}

function weightOf({ name, alias = name }: Coding, weights: ReadonlyMap<string, number>): number {
  return weights.get(name) ?? weights.get(alias) ?? weights.get('*') ?? 0
}

function weightsIn(header: string): ReadonlyMap<string, number> {
  return new Map(header.split(',').map((part) => weighted(part)))
}
