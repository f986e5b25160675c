// What the grammar of a text does not tell.

/** Before a name, not part of it: who is `Mr. Hammond` here is `Hammond` elsewhere. */
export const honorifics = words('mr mr. mrs mrs. ms ms. miss dr dr. prof prof. professor')

/** Written with a capital, and no name of anything that a text is about. */
export const noNames = words(`
  monday tuesday wednesday thursday friday saturday sunday january february march april may june
  july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
  mon tue wed thu fri sat sun am pm a.m. p.m. a.m p.m ad bc
  chapter section part figure table page volume appendix note paragraph fig. no. vol. pp. ed.
  quoth hm h'm i'm i've i'd i'll god lord sir madam ma'am yes no nay oh ah o ok okay hello
  tis 'tis twas 'twas amidst thou thee thy ye hast hath let alas
  http https www`)

/** May stand inside a name, between two words with capitals. */
export const connectors = words('of the de da di do del della la le du van von der den and &')

/** Connectors that begin such a link. */
export const openingConnectors = words('of de da di do del della la le du van von &')

/** Say nothing of the noun that they stand before. */
export const paleAdjectives = words(`
  other same such own many much more most few several certain various different whole own last next
  first second third good bad great little big small large old young new long short high low full
  right left real true sure able only very single main possible less least better best worse
  fine nice poor dear mere sheer general ordinary common usual beautiful pretty lovely pleasant
  delightful wonderful splendid strange curious ugly wretched terrible huge mighty tiny slight sudden
  bright special particular necessary important interesting similar wide quick slow easy hard happy`)

/** Too wide to be what a text is about, alone or with an adjective. */
export const paleNouns = words(`
  thing things way ways kind kinds sort sorts lot lots bit deal time times day days hour hours
  minute minutes moment moments night morning evening afternoon week weeks month months year years
  today tomorrow yesterday one ones side end while matter case fact course place piece pair number
  amount manner fellow man men woman women people person everybody somebody nobody anything nothing
  something everything everyone someone eye eyes hand hands face word words look head turn rest part
  parts use name example reason point question answer idea others self half none don yes no oh well
  set type types chapter section page line lines note`)

/** Reporting verbs: what follows is speech, not their object. */
export const speechVerbs = words(`
  say cry ask answer reply think know believe suppose tell add explain exclaim wonder mean hope seem
  quoth`)

export const negations = words(`not n't n’t never no nor neither hardly scarcely`)

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}
