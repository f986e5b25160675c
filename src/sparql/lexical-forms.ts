// Which texts a datatype allows (XML Schema 1.1 Part 2). The engine takes what JavaScript does, as nothing and `0x10`
// for numbers, and knows no ranges.

import { isLexical } from '../graph/value/literal-value.js'
import { xsd } from '../terms.js'

/** True, too, of what is allowed of a datatype that is not known here. */
export function isAllowed(text: string, datatype: string): boolean {
  return forms.get(datatype)?.test(text) ?? isLexical(text, datatype)
}

const yearMonth = String.raw`(?:\d+Y)?(?:\d+M)?`
const day = String.raw`(?:\d+D)?`
const time = String.raw`(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?`
const zone = String.raw`(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?`

/** By the IRIs of those that a core has no order for. That the hours of a day are 24 is known to the engine. */
const forms: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    time: String.raw`\d\d:\d\d:\d\d(?:\.\d+)?${zone}`,
    duration: String.raw`-?P(?=[\dT])${yearMonth}${day}${time}`,
    yearMonthDuration: String.raw`-?P(?=\d)${yearMonth}`,
    dayTimeDuration: String.raw`-?P(?=[\dT])${day}${time}`,
  }).map(([name, form]) => [xsd + name, new RegExp(`^${form}$`)]),
)
