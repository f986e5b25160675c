// Words that say how others hang together: every text has them, so they find nothing.

/** The languages that have a list, as BCP 47 tags. */
export const stopWordLanguages: readonly string[] = [
  ...['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'da', 'pl', 'ru', 'ar', 'ja'],
]

/**
 * Whether a folded form is a function word of a language (a BCP 47 tag; `de-AT` is `de`). They are
 * never left out of an index: a question passes over them if it has other words. False for a
 * language without a list.
 */
export function isStopWord(form: string, language: string): boolean {
  return stopWords(language).has(form)
}

/** The folded function words of a language. */
export function stopWords(language: string): ReadonlySet<string> {
  const name = (language.split('-', 1)[0] as string).toLowerCase()
  let found = sets.get(name)
  if (!found) {
    const list = Object.hasOwn(lists, name) ? (lists[name] as string) : ''
    found = new Set(list === '' ? [] : list.split(' '))
    if (list !== '') sets.set(name, found)
  }
  return found
}

const sets = new Map<string, ReadonlySet<string>>()

// Folded, and each once: to fold all of them when the first question comes would take longer than all else it asks
// of its text.
const lists: Readonly<Record<string, string>> = {
  en: "a about after all also an and any are as at be because been before being but by can could did do does doing don't for from had has have having he her here hers him his how i if in into is it its just me more most my no nor not of on or other our out over she should so some such than that the their them then there these they this those through to too under up us very was we were what when where which while who whom whose why will with would you your",
  de: 'aber alle als am an auch auf aus bei bin bis bist da damit dann das dass dem den denn der des die dies diese dieser dieses doch du durch ein eine einem einen einer eines er es fur gegen hat hatte ich ihr ihre im in ist ja jede kann kein keine man mit nach nicht noch nur ob oder ohne sehr sein seine sich sie sind so uber um und uns unter vom von vor war waren warum was welche wenn wer werden wie wird wir wo zu zum zur wurde wurden wohin woher welcher welches wem wen hatten habe worden',
  fr: "a au aux avec ce ces cet cette comme comment dans de des donc du elle elles en est et etaient etait etre eux il ils j'ai je la le les leur leurs lui ma mais me mes moi mon ne nos notre nous on ont ou par pas plus pour pourquoi quand que quel quelle quelles quels qui quoi sa sans se ses si son sont sur ta te tes toi ton tu un une vos votre vous y c'est qu'est d'un d'une",
  es: 'a al algo como con cual cuando de del desde donde dos el ella ellas ellos en entre era es esa ese eso esta estan estas este esto estos fue ha han hay la las le les lo los mas me mi muy nada ni no nos o para pero por porque que quien se ser si sin sobre son su sus tambien te tiene todo tu un una uno y ya yo',
  it: "a ad agli ai al alla alle anche che chi ci come con cosa cui da dagli dai dal dalla dei del della delle di do dove e ed era essere fu gli ha hanno i il in io la le lei lo loro lui ma mi mia mio ne nei nel nella no noi non o per perche piu qual quale quando quello questa questo se sei si sia sono su sua sul sulla suo ti tra tu un una uno vi voi c'e dell all nell",
  pt: 'a ao aos as ate com como da das de dela dele do dos e ela elas ele eles em entre era essa esse esta este eu foi ha isso isto ja lhe mais mas me mesmo meu minha muito na nas nao nem no nos num numa o onde os ou para pela pelo pelos por porque qual quando que quem se sem ser seu sua sao tambem te tem tinha um uma voce',
  nl: 'aan al als bij dan dat de der deze die dit door een en er geen had heb hebben heeft het hier hij hoe hun ik in is ja je kan maar me men met mij mijn na naar niet nog nu of om omdat onder ook op over te tegen toch toen tot u uit van veel voor waar waarom wanneer want was wat we welke werd wie wij worden wordt zal ze zich zij zijn zo zonder zou',
  sv: 'alla att av bara blev bli blir da de dem den denna det detta dig din du efter ej eller en er ett for fran ha hade han har hennes henne hon hur i icke inte jag kan man med men mig min mot mycket nar nagon nagra nu och om oss pa sa sedan sig sin ska som till under upp ut utan vad var varfor vem vi vid vilken ar over',
  da: 'af alle at blev bliver da de den denne der det dette dig din du efter eller en er et for fra ham han har havde hendes her hun hvad hvem hvis hvor hvordan hvorfor hvornar i ikke ind jeg jer kan man med men mig min mod nar ned nogle nu og ogsa om op os over pa skal som til ud under var ved vi vil vaere',
  pl: 'a aby ale bez bo byc byla bylo byl co czy czego dla do gdy gdzie go i ich ile im ja jak jakie jaki jako je jego jej jest jestem juz kiedy kto ktora ktore ktory lub ma mi mnie moze na nad nie niz o od on ona one oni po pod przed przez przy sa sie tak tez to tu ty tym w we wszystko z za ze',
  ru: 'а без бы был была были было быть в вам вас во вот все вы где да для до его ее если есть еще же за и из или им их к как какая какие какой ко когда кто ли мне мой мы на над не него нее нет ни но о об он она они оно от по под почему при с со так там то тоже ты у уже что чтобы чья эта эти это этот я',
  ar: 'في من علي الي عن مع هذا هذه ذلك تلك التي الذي الذين ما ماذا متي اين كيف لماذا هل هو هي هم ان لا لم لن قد كان كانت كل بعد قبل بين او ثم حتي اذا عند غير اي و انا نحن انت',
  // Pairs of kana, as Japanese comes.
  ja: 'です ます した して てい いる いた ある あっ から まで こと もの この その あの どこ いつ だれ なに なぜ どう どの には では とは すか せん ませ まし しま たか って った とい いう ので のに でも され れた れる など より ため ない ょう とき する がら',
}
