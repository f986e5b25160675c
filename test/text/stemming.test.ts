import t from 'tap'
import { fold } from '../../src/text/fold.js'
import { beginningsOf, stemLanguages, stemmer } from '../../src/text/stemming.js'

/** Forms that meet, word by word. */
const meet: Readonly<Record<string, readonly string[]>> = {
  en: [
    'run runs running',
    'engine engines',
    'connect connected connecting connection connections',
    'emotion emotional emotionally emotions',
    'nation national nations',
    'city cities',
    'relational relate relates',
    'happy happiness',
    'hop hopping hopped',
    'generous generously',
  ],
  de: [
    'Haus Häuser Hauses Häusern',
    'Straße Strassen Straßen',
    'Buch Bücher Büchern Buches',
    'schnell schnelle schnellen schneller',
    'Frau Frauen',
    'spielen spiele',
    'Müller Mueller',
    'Käse Kaese',
    'Österreich Oesterreich',
    'neu neue neuen',
  ],
  fr: [
    'cheval chevaux',
    "homme hommes l'homme",
    'parler parlez parlé parlés',
    'grand grande grands grandes',
    'national nationale nationaux',
    'école écoles',
    'récent récemment',
    'évident évidemment',
    'publication publications publique',
  ],
  es: [
    'libro libros',
    'canción canciones',
    'niño niños niña niñas',
    'hablar hablando hablamos',
    'verdad',
    'ciudad ciudades',
    'mujer mujeres',
    'luz luces',
    'tiene tienes',
  ],
  it: ["acqua dell'acqua", 'libro libri', 'città', 'parlare parlato parlando', 'bello belli'],
  pt: ['livro livros', 'cidade cidades', 'falar falando falamos', 'menino meninos menina'],
  nl: ['boek boeken', 'huis', 'vrouw vrouwen', 'snelheid snelheden'],
  fi: ['loppui', 'palkkio palkkion'],
  sv: ['bok', 'flicka flickor', 'hus husen', 'bil bilar bilen bilarna'],
  ru: ['книга книги книгу книгой', 'город города городу городом', 'новый новая новое новые'],
  ar: [
    'كتاب الكتاب',
    'مدرسة المدرسة والمدرسة للمدرسة',
    'معلم معلمون المعلمين',
    'قطار بالقطار والقطار',
    'أنهار الأنهار الانهار',
  ],
  ko: ['문서 문서를 문서가 문서의 문서에서'],
}

/** Inflections that do not. The package's stemmers miss some that are regular. */
const miss: Readonly<Record<string, readonly string[]>> = {
  en: ['mouse mice', 'run ran'],
  de: ['spielen spielt', 'gehen ging'],
  it: ['acqua acque'],
  nl: ['huis huizen', 'werken werkt', 'fiets fietsen', 'stad steden'],
  sv: ['bok böcker', 'flicka flickan', 'hus huset'],
}

t.test('common inflections have one stem', async (t) => {
  for (const [language, rows] of Object.entries(meet)) {
    for (const row of rows) t.equal((await stemsOf(language, row)).size, 1, `${language}: ${row}`)
  }
})

t.test('irregular forms have stems of their own', async (t) => {
  for (const [language, rows] of Object.entries(miss)) {
    for (const row of rows) t.not((await stemsOf(language, row)).size, 1, `${language}: ${row}`)
  }
})

t.test('each form begins with what is said to be before its stem', async (t) => {
  for (const [language, rows] of Object.entries(meet)) {
    for (const row of rows) {
      const forms = row.split(' ').map(fold)
      for (const form of forms) {
        for (const asked of forms) {
          const beginnings = beginningsOf((await stemmer(language))(asked), language)
          t.ok(
            beginnings.some((beginning) => form.startsWith(beginning)),
            `${language}: ${form} for ${asked}`,
          )
        }
      }
    }
  }
})

t.test('other words keep apart', async (t) => {
  const apart = ['en: universe unity', 'de: Haus Hase', 'fr: mer mère mur']
  for (const row of apart) {
    const [language, words] = row.split(': ') as [string, string]
    t.ok((await stemsOf(language, words)).size > 1, row)
  }
})

t.test('a language is known by its tag, and an unknown one leaves forms alone', async (t) => {
  t.equal((await stemmer('de-AT'))('hauser'), (await stemmer('de'))('hauser'))
  t.equal((await stemmer('EN'))('running'), 'run')
  for (const language of ['ja', 'xx', '', 'constructor', '__proto__']) {
    t.equal((await stemmer(language))('running'), 'running', language)
  }
})

t.test('any form has a stem that is not empty', async (t) => {
  const forms = [
    '',
    'a',
    "'",
    "l'",
    'c++',
    '3.14',
    'iso_4217',
    '的',
    '\ud800',
    'х',
    'ى',
    'ال',
    'aaaa',
  ]
  for (const language of stemLanguages) {
    for (const form of [
      ...forms,
      'ing',
      'ly',
      'eed',
      'yyyy',
      'ен',
      'ement',
      'issimo',
      'z'.repeat(256),
    ]) {
      const stem = (await stemmer(language))(form)
      t.ok(typeof stem === 'string' && (stem !== '' || form === ''), `${language}: ${form}`)
    }
  }
})

async function stemsOf(language: string, words: string): Promise<Set<string>> {
  const stem = await stemmer(language)
  return new Set(words.split(' ').map((word) => stem(fold(word))))
}
