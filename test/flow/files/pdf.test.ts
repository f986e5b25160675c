import t from 'tap'
import { column, encryption, pdf, type PdfText } from './made-files.js'
import { because, headingsOf, pagesOf, read } from './reading.js'

const type = 'application/pdf'

const left = [
  'The river Thames flows through the old',
  'meadows of Oxford and is crossed by sev-',
  'eral bridges, of which the oldest is the',
  'one at Folly. Boats are for hire there.',
]
const right = [
  'Ellen lives in a house by the river, and',
  'Dick, who rows the boat, is her cousin in',
  'the second degree. They met in the hay-',
  'field, where all the others had gone to.',
]
const joinedLeft =
  'The river Thames flows through the old meadows of Oxford and is crossed by several bridges, of which the oldest is the one at Folly. Boats are for hire there.'
const joinedRight =
  'Ellen lives in a house by the river, and Dick, who rows the boat, is her cousin in the second degree. They met in the hayfield, where all the others had gone to.'
const wide = (n: number) => [
  `Bridges were built of stone in those days, and the toll of bridge ${n} was a penny, which its`,
  'keeper took. Nobody paid on Sundays.',
]

t.test('two columns are read one after the other, below what stands above both', async (t) => {
  const title: PdfText = { x: 72, y: 740, text: 'News of the River', size: 20 }
  const found = await read(
    type,
    pdf([[title, ...column(72, 700, left), ...column(330, 700, right)]]),
  )
  t.equal(found.text, `News of the River\n\n${joinedLeft}\n\n${joinedRight}`)
  t.strictSame(headingsOf(found), ['1 News of the River'])
  t.strictSame(pagesOf(found), ['1 News of the '])
})

t.test('they are also where the program wrote them line by line', async (t) => {
  const lines = left.flatMap((text, n) => [
    ...column(72, 700 - 12 * n, [text]),
    ...column(330, 700 - 12 * n, [right[n] ?? '']),
  ])
  const { text } = await read(type, pdf([lines]))
  t.equal(text, `${joinedLeft}\n\n${joinedRight}`)
})

t.test('what crosses both columns in the middle ends those above it', async (t) => {
  const cross =
    'A line that goes over both of the columns, and says what stands in the picture above.'
  const found = await read(
    type,
    pdf([
      [
        ...column(72, 700, left),
        ...column(330, 700, right),
        ...column(72, 620, [cross]),
        ...column(72, 580, left),
        ...column(330, 580, right),
      ],
    ]),
  )
  const order = [joinedLeft, joinedRight, cross, joinedLeft, joinedRight]
  t.equal(found.text, order.join('\n\n'))
})

t.test('the cells of a table stay in their rows', async (t) => {
  const rows = ['Ellen', 'Dick', 'Clara', 'Walter'].flatMap((name, n) => [
    { x: 72, y: 700 - 12 * n, text: name },
    { x: 330, y: 700 - 12 * n, text: n === 0 ? 'a house at the bend of the river' : `boat ${n}` },
  ])
  const { text } = await read(type, pdf([rows]))
  t.match(text, /Dick boat 1/)
})

t.test('a sentence goes on over the end of its page, which is known all the same', async (t) => {
  const first = [
    'Bridges were built of stone in those days, and the toll for all that crossed them',
  ]
  const second = ['was a penny, which the keeper took from everybody.']
  const found = await read(type, pdf([column(72, 60, first), column(72, 700, second)]))
  t.equal(found.text, `${first[0]} ${second[0]}`)
  t.strictSame(pagesOf(found), ['1 Bridges were', '2 was a penny,'])
})

t.test('a page begins behind a word that goes on over the end of the one before', async (t) => {
  const first = ['Boats are for hire there, and the river is crossed in the old town by sev-']
  const found = await read(
    type,
    pdf([
      column(72, 60, first),
      column(72, 700, ['eral bridges, of which the oldest is the one at Folly, and not by fer-']),
      column(72, 700, ['ries.']),
    ]),
  )
  t.match(
    found.text,
    'town by several bridges, of which the oldest is the one at Folly, and not by ferries.',
  )
  t.strictSame(pagesOf(found), ['1 Boats are fo', '2 bridges, of '])
})

t.test('titles above the text and numbers of pages are left out', async (t) => {
  const pages = [1, 2, 3, 4].map((n) => [
    { x: 72, y: 770, text: 'News from Nowhere' },
    ...column(72, 700, wide(n)),
    { x: 300, y: 30, text: `- ${n} -` },
  ])
  const { text } = await read(type, pdf(pages))
  t.notMatch(text, /Nowhere/)
  t.notMatch(text, /- \d -/)
  t.match(text, /toll of bridge 4 was a penny/)
})

t.test('headings are lines in large letters, and those of the outline', async (t) => {
  const found = await read(
    type,
    pdf(
      [
        [{ x: 72, y: 740, text: 'The River', size: 20 }, ...column(72, 700, wide(1))],
        [{ x: 72, y: 740, text: '1.1 Bridges', size: 10 }, ...column(72, 700, wide(2))],
        [{ x: 72, y: 740, text: 'Boats', size: 14 }, ...column(72, 700, wide(3))],
      ],
      { outline: [['1.1  Bridges', 2]], title: 'News of the River' },
    ),
  )
  t.strictSame(headingsOf(found), ['1 The River', '1 1.1 Bridges', '2 Boats'])
  t.equal(found.title, 'News of the River')
  t.equal(found.text.split('\n\n').length, 6)
})

t.test('lines of a table of contents are no headings', async (t) => {
  const lines = ['1 Bridges . . . . . . . . . . 7', '2 Boats ............... 12']
  const large = column(72, 740, lines, 14)
  const found = await read(type, pdf([[...large, ...column(72, 600, [...left, ...right])]]))
  t.strictSame(headingsOf(found), [])
  t.match(found.text, /Bridges/)
})

t.test('the name of a file is no title', async (t) => {
  const { title } = await read(type, pdf([column(72, 700, left)], { title: 'report_v2.docx' }))
  t.equal(title, undefined)
})

t.test('a page that was turned is read, and what stands along its side comes last', async (t) => {
  const turned = left.map((text, n) => ({ x: 100 + 12 * n, y: 72, text, turns: 1 }))
  t.equal((await read(type, pdf([turned]))).text, joinedLeft)
  const side = { x: 20, y: 300, text: 'Printed on Monday', turns: 1 }
  const { text } = await read(type, pdf([[side, ...column(72, 700, left)]]))
  t.equal(text, `${joinedLeft}\n\nPrinted on Monday`)
})

t.test('what cannot be read says why', async (t) => {
  const good = pdf([column(72, 700, left)])
  await t.rejects(read(type, good.subarray(0, 200)), because('damaged'))
  await t.rejects(read(type, '%PDF-1.7 and nothing else'), because('damaged'))
  await t.rejects(
    read(type, pdf([column(72, 700, left)], { trailer: encryption })),
    because('encrypted'),
  )
  await t.rejects(read(type, pdf([[]])), /1 page: they may be images/)
  const pages = Array.from({ length: 4 }, () => column(72, 700, left))
  t.ok(await read(type, pdf(pages), { maxFilePages: 4 }))
  await t.rejects(read(type, pdf(pages), { maxFilePages: 3 }), because('pages'))
  const { text } = await read(type, good)
  t.ok(await read(type, good, { maxTextLength: text.length }))
  await t.rejects(read(type, good, { maxTextLength: text.length - 1 }), because('text'))
})
