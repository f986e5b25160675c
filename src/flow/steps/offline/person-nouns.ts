// Nouns of people, by what they end with.

import { honorifics, ranks, titles } from './word-lists.js'

const ending =
  /(?:[^aeiou]er|eer|or|ist|ian|man|woman|ess|ant|eur|smith|wright|maker|leader|figure)$/
const people = new Set(
  (
    'king queen prince emperor pope saint monk nun poet artist athlete coach model judge star dj ' +
    'lawyer player employer lover painter politician chef spy diplomat martyr pilot nurse bishop ' +
    'priest cleric scholar member citizen duke earl baron count knight lord lady hero child son ' +
    'daughter father mother brother sister wife husband widow friend guitarist academic activist ' +
    'advocate architect expert journalist criminal rapper entrepreneur host soldier person ' +
    'criminal thief theologian chief head magnate tycoon physicist'
  ).split(' '),
)
const things = new Set(
  (
    'river number order chapter tower paper newspaper letter water power center centre computer ' +
    'cover matter weather winter summer border quarter theater theatre chamber cluster filter ' +
    'register transformer cylinder container server router printer scanner error color colour ' +
    'factor sector vector sensor motor tractor corridor harbor harbour monitor ' +
    'reactor honor labor plant restaurant instrument monster thriller disorder poster trailer ' +
    'shelter steamer cruiser carrier freighter launcher bomber fighter glacier cancer ' +
    'pier frontier barrier fiber timber lumber rubber silver leather feather spider flower shower ' +
    'powder ladder folder holder boiler cooler tumor mirror process business success wilderness ' +
    'address access illness fitness witness fortress chess dress press mess loss ' +
    'variant restaurant elephant grant descendant ' +
    'list mist twist waist tier layer corner counter meter metre liter manor floor door terror horror'
  ).split(' '),
)

/** `noun` in lower case and the singular. */
export function isPersonNoun(noun: string): boolean {
  if (people.has(noun) || titles.has(noun) || ranks.has(noun) || honorifics.has(noun)) return true
  return !things.has(noun) && ending.test(noun)
}
