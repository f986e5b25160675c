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

/** Before a person's name, and never the first word of the name of something else. */
export const titles = words(`
  president ceo cfo cto coo chairman chairwoman chairperson chancellor governor senator congressman
  congresswoman mayor minister professor ambassador commissioner superintendent director secretary
  officer premier md archbishop bishop rabbi reverend rev. hon. sen. gov. rep. pres. spokesman
  spokeswoman coach`)

/** Titles that also begin names of other things: `General Electric`, `Justice League`. */
export const ranks = words(`
  general colonel captain major lieutenant sergeant corporal admiral commander brigadier judge
  justice sheriff lt. col. gen. sgt. capt. maj. lt col gen sgt capt maj`)

/** Part of a title, before another word of it. */
export const titleModifiers = words(`
  vice deputy prime chief executive operating financial technology managing former acting associate
  assistant foreign attorney first lieutenant brigadier major rear field honorary interim head`)

/** Nouns that organisations, places and works end with, or have before `of` and `for`. */
export const institutions = words(`
  academy administration agency airlines airport army assembly association authority award awards band
  bank bay board branch bridge broadcasting bureau cabinet campaign cathedral center centre chamber
  championship championships church circuit city club coalition college commission committee company
  confederation conference congress consortium convention cooperation corporation corps council
  county court cup department development directorate district division enterprise faculty federation
  festival films forest forum foundation front fund group hall hospital house hotel initiative
  institute institution international island islands journal laboratory lake league library mills
  ministry mission motors mountain movement museum network office orchestra order organisation
  organization palace parish park parliament party pictures plan police prize program programme
  project province railway records region republic reserve river road school schools secretariat
  seminary senate service services society square stadium state station street studios subcommittee
  summit symposium system systems tower township treaty trophy trust union university valley village
  workshop avenue building medal act code building`)

/** People are called so as well: Jan Smuts, Jun Choi. */
export const shortNames = words('jan jun may june april august mar sun')

/** May stand inside a name, between two words with capitals. */
export const connectors = words(`
  of the de da do dos das di del della la le el al du van von der den ter ten zu bin ibn y and & for`)

/** Connectors that begin such a link. */
export const openingConnectors = words(
  'of de da do dos das di del della la le el al du van von ter ten zu bin ibn y & for and',
)

/** Say nothing of the noun that they stand before. */
export const paleAdjectives = words(`
  other same such own many much more most few several certain various different whole own last next
  first second third good bad great little big small large old young new long short high low full
  right left real true sure able only very single main possible less least better best worse
  fine nice poor dear mere sheer general ordinary common usual beautiful pretty lovely pleasant
  delightful wonderful splendid strange curious ugly wretched terrible huge mighty tiny slight sudden
  younger elder older former late future current previous original famous notable major minor
  bright special particular necessary important interesting similar wide quick slow easy hard happy`)

/** Too wide to be what a text is about, alone or with an adjective. */
export const paleNouns = words(`
  thing things way ways kind kinds sort sorts lot lots bit deal time times day days hour hours
  minute minutes moment moments night morning evening afternoon week weeks month months year years
  today tomorrow yesterday one ones side end while matter case fact course place piece pair number
  amount manner fellow man men woman women people person everybody somebody nobody anything nothing
  something everything everyone someone eye eyes hand hands face word words look head turn rest part
  parts use name example reason point question answer idea others self half none don yes no oh well
  set type types downtown suffix prefix term title chapter section page line lines note`)

/** Reporting verbs: what follows is speech, not their object. */
export const speechVerbs = words(`
  say cry ask answer reply think know believe suppose tell add explain exclaim wonder mean hope seem
  quoth`)

export const negations = words(`not n't n’t never no nor neither hardly scarcely`)

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}
