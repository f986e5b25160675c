// What a sentence says, before it is a triple.

import type { DateMention } from './dates.js'
import type { Mention } from './mention.js'

export interface Statement {
  readonly subject: Mention
  /** `acquire`, `live in`, `directed by`, `capital of`; or one of the two below. */
  readonly relation: string
  readonly object: Mention | DateMention
}

/** The subject is one of what the object names. */
export const isA = ' is a'

export function isDate(object: Mention | DateMention): object is DateMention {
  return 'type' in object
}

/** `released on` a day, and `released in` a month or year. */
export function dated(subject: Mention, verb: string, date: DateMention): Statement {
  return { subject, relation: `${verb} ${date.type === 'date' ? 'on' : 'in'}`, object: date }
}
