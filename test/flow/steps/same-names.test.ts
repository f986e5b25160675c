import t from 'tap'
import { acronymsIn } from '../../../src/flow/steps/acronyms.js'
import { formOf } from '../../../src/text/name-form.js'
import { entityUri, relationUri } from '../../../src/flow/steps/names.js'
import { offlineExtractor } from '../../../src/flow/steps/offline-extractor.js'
import { sameNames } from '../../../src/flow/steps/same-names.js'
import { Turns } from '../../../src/turns.js'

/** What is one of these names, in a text. */
async function one(text: string, names: readonly string[], title?: string): Promise<string[][]> {
  const entities = names.map((name) => ({ name, uri: `urn:e/${name}` }))
  const document = title === undefined ? { text } : { text, title }
  const extracted = { entities, triples: [], uriOf: (name: string) => `urn:e/${name}` }
  const found = await sameNames(document, extracted, new Turns(undefined))
  return found.map((group) => group.map(({ name }) => name))
}

t.test('marks, capitals, forms of Unicode and a genitive tell no two names apart', async (t) => {
  const same = [
    ['J.K. Rowling', 'J. K. Rowling'],
    ['Ran-Tan-Plan', 'Rantanplan'],
    ['The Exies', 'Exies'],
    ['Quanta’s', 'Quanta'],
    ['Café', 'Cafe\u0301'],
    ['U.S. Navy', 'US Navy'],
    ["Nan-t'ung", 'Nantung'],
    ['Disney+’s', 'Disney+'],
    ['#MeToo', 'MeToo'],
    ['Rock + Roll', 'Rock Roll'],
    ['C++11', 'C 11'],
  ] as const
  for (const [a, b] of same) {
    t.equal(formOf(a), formOf(b), `${a} is ${b}`)
    t.strictSame(await one('', [a, b]), [[a, b]])
  }
  for (const [a, b] of [
    ['Python 3.1', 'Python 31'],
    ['Formula 1 97', 'Formula 197'],
    ['Apple', 'Apples'],
    ['C', 'C++'],
    ['Disney', 'Disney+'],
    ['Visual C#', 'Visual C++'],
    ['Objective-C', 'Objective-C++'],
    ['office', 'The Office'],
    ['Résumé', 'Resume'],
  ] as const) {
    t.strictSame(await one('', [a, b]), [], `${a} is not ${b}`)
    t.strictSame(await one('', [b, a]), [], `${b} is not ${a}`)
  }
})

t.test('an acronym is one with what the text says that it stands for', async (t) => {
  const said = async (text: string) => [...(await acronymsIn(text, new Turns(undefined)))]
  const who: [string, string] = ['WHO', 'World Health Organization']
  t.strictSame(await said('The World Health Organization (WHO) was founded.'), [who])
  t.strictSame(await said('The WHO (World Health Organization) was founded.'), [who])
  t.strictSame(await said('the Directorate of Film Festivals (DFF; Delhi)'), [
    ['DFF', 'Directorate of Film Festivals'],
  ])
  t.strictSame(await said('the Film & Television Institute of India (FTII).'), [
    ['FTII', 'Film & Television Institute of India'],
  ])
  t.strictSame(await said('X-linked agammaglobulinemia (XLA) is'), [
    ['XLA', 'X-linked agammaglobulinemia'],
  ])
  for (const text of [
    'Australian Football League (AFL) and Arena Football League (AFL)',
    'It was made in Germany (GDR).',
    'He came (BBC) and went.',
    'their way of life (WOL)',
    'Ellen (born 1820) and Dick (UK) rowed.',
  ]) {
    t.strictSame(await said(text), [], text)
  }
  const names = ['WHO', 'World Health Organization', 'Geneva']
  t.strictSame(await one('The World Health Organization (WHO) is in Geneva.', names), [
    ['World Health Organization', 'WHO'],
  ])
  t.strictSame(await one('The World Health Organization is in Geneva. So is WHO.', names), [])
  const alone = 'The World Health Organization (WHO) is in Geneva.'
  t.strictSame(await one(alone, ['World Health Organization', 'Geneva']), [
    ['World Health Organization', 'WHO'],
  ])
  t.strictSame(await one(alone, ['WHO', 'Geneva']), [['WHO', 'World Health Organization']])
})

t.test('a surname is who has it, where nobody and nothing else in the text does', async (t) => {
  const names = ['Christopher Nolan', 'Nolan']
  const text = 'Christopher Nolan is a director. Nolan was born in London.'
  t.strictSame(await one(text, names), [names])
  const apart: [text: string, names: string[], title?: string][] = [
    [
      'Christopher Nolan and Jonathan Nolan wrote it. Nolan was born.',
      [...names, 'Jonathan Nolan'],
    ],
    [
      'Henry Ford founded the Ford Motor Company. Ford built cars.',
      ['Henry Ford', 'Ford Motor Company', 'Ford'],
    ],
    [
      'Richard Hammond rowed. Old Hammond sat and talked. Hammond smiled.',
      ['Richard Hammond', 'Hammond'],
    ],
    ['Henry Hammond came. Mrs. Hammond smiled. Hammond sat.', ['Henry Hammond', 'Hammond']],
    [
      'George Washington left. He died in Washington, they say.',
      ['George Washington', 'Washington'],
    ],
    ['Nolan came first. Then Christopher Nolan.', names],
    [
      'Søren Gyldendal founded it. Gyldendal printed.',
      ['Søren Gyldendal', 'Gyldendal'],
      'Gyldendal',
    ],
    ['West Bengal is a state. Bengal is larger.', ['West Bengal', 'Bengal']],
    ['Walsh Hall is old. Hall of fame.', ['Walsh Hall', 'Hall']],
    ['Rhys ap Gruffydd ruled. Gruffydd was dead.', ['Rhys ap Gruffydd', 'Gruffydd']],
  ]
  for (const [text, names, title] of apart) t.strictSame(await one(text, names, title), [], text)
})

t.test('who is born or dies is a person, as the offline extractor has it', async (t) => {
  const extractor = offlineExtractor()
  const uriOf = (name: string) => entityUri(name, 'e:')
  const joinedIn = async (text: string) => {
    const document = { id: 'd', user: 'u', collection: 'c', metadata: [], text }
    const found = await extractor(
      { index: 0, start: 0, end: text.length, text },
      {
        signal: new AbortController().signal,
        document,
        source: { v: 'd', e: true },
        entity: (name) => ({ v: uriOf(name), e: true }),
        relation: (name) => ({ v: relationUri(name, 'e:'), e: true }),
      },
    )
    const entities = found.entities.map(({ name }) => ({ name, uri: uriOf(name) }))
    const extracted = { entities, triples: found.triples, uriOf }
    const groups = await sameNames(document, extracted, new Turns(undefined))
    return groups.map((group) => group.map(({ name }) => name))
  }
  const nakata = [['Hideo Nakata', 'Nakata']]
  t.strictSame(await joinedIn('Hideo Nakata was born in Okayama. Nakata moved to Tokyo.'), nakata)
  t.strictSame(await joinedIn('Hideo Nakata died in Okayama. Nakata lived in Tokyo.'), nakata)
  t.strictSame(await joinedIn('Hideo Nakata (born 8 July 1961) met Ada. Nakata left.'), nakata)
  t.strictSame(await joinedIn('Hideo Nakata stands in Okayama. Nakata is in Tokyo.'), [])
})

t.test('initials are of whom they can be alone, and a middle name is somebody else', async (t) => {
  const first = (a: string, b: string, ...others: string[]) =>
    one(`${a} and ${b} ${others.join(' ')}`, [a, b, ...others])
  t.strictSame(await first('Iain Banks', 'Iain M. Banks'), [['Iain M. Banks', 'Iain Banks']])
  t.strictSame(await first('J. K. Rowling', 'Joanne Rowling'), [
    ['J. K. Rowling', 'Joanne Rowling'],
  ])
  t.strictSame(await first('Francis W. Parker', 'Francis Wayland Parker'), [
    ['Francis W. Parker', 'Francis Wayland Parker'],
  ])
  for (const names of [
    ['John Adams', 'John Quincy Adams'],
    ['John Adams', 'John Adams Jr.'],
    ['J. Smith', 'John Smith', 'James Smith'],
    ['George Bush', 'George H. Bush', 'George W. Bush'],
    ['Mary Kay', 'Martin Kay'],
  ] as [string, string, ...string[]][]) {
    t.strictSame(await first(...names), [], names.join())
  }
})

t.test('who has a title is who has the name without it, but for two of one name', async (t) => {
  const text = 'Mr. Hammond sat. Hammond smiled.'
  t.strictSame(await one(text, ['Mr. Hammond', 'Hammond']), [['Mr. Hammond', 'Hammond']])
  t.strictSame(
    await one(`${text} Mrs. Hammond left.`, ['Mr. Hammond', 'Hammond', 'Mrs. Hammond']),
    [],
  )
  t.strictSame(await one('', ['President Chiang Kai-shek', 'Chiang Kai-shek']), [
    ['President Chiang Kai-shek', 'Chiang Kai-shek'],
  ])
  t.strictSame(await one('', ['King Harold', 'Harold']), [])
})

t.test('what a text begins with is what its title names', async (t) => {
  const text = 'Barry Jarvis Wesson (born 1960) played.'
  t.strictSame(await one(text, ['Barry Jarvis Wesson', 'Barry Wesson'], 'Barry Wesson (player)'), [
    ['Barry Wesson', 'Barry Jarvis Wesson'],
  ])
  const elsewhere = `In 1960, ${text}`
  t.strictSame(await one(elsewhere, ['Barry Jarvis Wesson', 'Barry Wesson'], 'Barry Wesson'), [])
  t.strictSame(
    await one(
      'Ilitch Holdings, Inc. is',
      ['Ilitch Holdings, Inc.', 'Ilitch Holdings'],
      'Ilitch Holdings',
    ),
    [['Ilitch Holdings', 'Ilitch Holdings, Inc.']],
  )
})

t.test('a text of many people takes no longer for each, and others have turns', async (t) => {
  const count = 12_000
  const names: string[] = []
  let text = ''
  for (let n = 0; n < count; n++) {
    const surname = 'Sur' + n.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'.charAt(+digit))
    names.push(`Mary ${surname}`, surname, `Mr. ${surname}`)
    text += `The writer Mary ${surname} met a friend (of hers). Mr. ${surname} came home.\n\n`
  }
  const entities = names.map((name) => ({ name, uri: `urn:e/${name}` }))
  const extracted = { entities, triples: [], uriOf: (name: string) => name }
  let turns = 0
  const counting = setInterval(() => turns++, 1)
  t.teardown(() => clearInterval(counting))
  const before = process.cpuUsage()
  const found = await sameNames({ text }, extracted, new Turns(undefined))
  const { user } = process.cpuUsage(before)
  t.equal(found.length, count)
  // It was half a minute, and is half a second.
  t.ok(user < 10_000_000, `${user} us`)
  t.ok(turns > 3, `${turns} turns`)

  const controller = new AbortController()
  const leaving = sameNames({ text }, extracted, new Turns(controller.signal))
  setImmediate(() => controller.abort(new Error('left')))
  await t.rejects(leaving, { message: 'left' })
})

t.test('no brackets take longer than others', async (t) => {
  const said = async (text: string) => [...(await acronymsIn(text, new Turns(undefined)))]
  const before = process.cpuUsage()
  // One way for each choice of eleven words of forty.
  t.strictSame(await said(`zeal ${'of '.repeat(38)}(XOOOOOOOOOOO)`), [])
  t.strictSame(await said(`${'('.repeat(400_000)}${' '.repeat(200)})`), [])
  const { user } = process.cpuUsage(before)
  t.ok(user < 10_000_000, `${user} us`)
})
