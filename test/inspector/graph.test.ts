// The graph of what is stored, by mouse, by keyboard and by table, and queries in SPARQL.

import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Page, Worker } from 'playwright-core'
import type { Term, Triple } from '../../src/types.js'
import { createSparql } from '../../src/sparql/index.js'
import { drawnOf, mostNodes, nothing, withTriples } from '../../src/inspector/graph/model.js'
import { serve } from '../http/fixtures/serving.js'
import { boats, dick, ellen, iri, knows, label, named, text, thames, type, write } from './boats.js'
import {
  inaccessible,
  inaccessibleByDayAndNight,
  launch,
  noBrowser,
  signIn,
  watchedPage,
} from './browser.js'
import { tasksDuring } from './tasks.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(600_000)

t.test('a graph is walked in', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  await write(knowledge, 'boats', boats)
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/graph/boats`, 'alice')
  const picture = page.getByRole('img', { name: /^Graph of/ })
  await picture.waitFor()
  await page.getByRole('button', { name: '5 things' }).waitFor()
  t.strictSame(await inaccessibleByDayAndNight(page), [], 'as it comes')

  await page.getByRole('button', { name: 'Show Dick' }).click()
  const thing = page.getByRole('region', { name: 'Thing', exact: true })
  await thing.getByRole('heading', { name: 'Dick' }).waitFor()
  await thing.getByText('Person').waitFor()
  t.strictSame(await inaccessibleByDayAndNight(page), [], 'a thing')

  await thing.getByRole('button', { name: 'Path from here' }).click()
  await page.getByRole('button', { name: 'Show Thames' }).click()
  const path = page.locator('.path li')
  await path.first().waitFor()
  t.strictSame(await path.allTextContents(), ['Dick', 'Ellen', 'Thames'])
  await page.getByRole('button', { name: 'Dismiss' }).click()

  await page.getByRole('button', { name: /^\d+ links/ }).click()
  await page.getByRole('button', { name: 'Passages Dick Ellen' }).click()
  await page.getByText('of the haymaking.').waitFor()
  const marks = page.locator('.excerpt mark')
  t.strictSame(await marks.allTextContents(), ['Dick', 'Ellen'])
  t.strictSame(await inaccessibleByDayAndNight(page), [], 'a statement')

  const persons = page.getByRole('button', { name: 'Person 3' })
  await persons.click()
  t.equal(await persons.getAttribute('aria-pressed'), 'false')
  await page.getByRole('button', { name: '2 things' }).waitFor()
  await persons.click()
  await page.getByRole('button', { name: 'knows 2' }).click()
  await page.getByRole('button', { name: 'knows 2' }).click()

  await page.getByLabel('Find').fill('cla')
  await page.getByLabel('Find').press('Enter')
  await thing.getByRole('heading', { name: 'Clara' }).waitFor()
  t.strictSame(faults, [])
})

t.test('a chosen statement is the same one, whatever is filtered', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => iri(`urn:${name}`)) as [
    Term,
    Term,
    Term,
    Term,
  ]
  await write(knowledge, 'walk', [
    ...named(a.v, 'Anton', 'Dog'),
    ...named(b.v, 'Bea', 'Person'),
    ...named(c.v, 'Carl', 'Person'),
    ...named(d.v, 'Dora', 'Person'),
    { s: a, p: knows, o: b },
    { s: b, p: knows, o: c },
    { s: c, p: iri('urn:dislikes'), o: d },
  ])
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/graph/walk`, 'alice')
  await page.getByRole('button', { name: '3 links' }).click()
  await page.getByRole('button', { name: 'Passages Bea Carl' }).click()
  const statement = page.getByRole('region', { name: 'Statement', exact: true })
  const said = statement.locator('p').first()
  await said.waitFor()
  t.equal(await said.textContent(), 'Bea knows Carl')
  await page.getByRole('button', { name: 'Dog 1' }).click()
  await page.getByRole('button', { name: '2 links' }).waitFor()
  t.equal(await said.textContent(), 'Bea knows Carl', 'where places are others')
  await page.getByRole('button', { name: 'Person 3' }).click()
  await page.getByText('Nothing is shown.').waitFor()
  t.equal(await statement.count(), 0, 'where it is not drawn')
  t.strictSame(faults, [])
})

t.test('what has many neighbours is expanded on and on', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const spokes = Array.from({ length: 450 }, (_, n) => ({
    s: iri(`urn:x${n}`),
    p: knows,
    o: iri('urn:hub'),
  }))
  const told = Array.from({ length: 25 }, (_, n) => ({
    s: iri('urn:hub'),
    p: iri('urn:note'),
    o: text(`note ${n}`),
  }))
  await write(knowledge, 'wheel', [...spokes, ...told, ...named('urn:hub', 'Runnymede', 'Place')])
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/graph?around=urn:hub`, 'alice')
  await page.getByRole('button', { name: '201 things' }).waitFor()
  await page.getByRole('button', { name: 'Show Runnymede' }).click()
  const thing = page.getByRole('region', { name: 'Thing', exact: true })
  await thing.getByText('The first 20 of 26.').waitFor()
  await thing.getByText('The first 40 of 200.').waitFor()
  await thing.getByRole('button', { name: 'Expand' }).click()
  await page.getByRole('button', { name: '401 things' }).waitFor()
  await thing.getByRole('button', { name: 'Expand' }).click()
  await page.getByRole('button', { name: '451 things' }).waitFor()
  await thing.getByRole('button', { name: 'Collapse' }).click()
  await page.getByRole('button', { name: '1 thing', exact: true }).waitFor()
  t.strictSame(await inaccessible(page), [])
  t.strictSame(faults, [])
})

t.test('by keyboard: leaves are put away and come again', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  await write(knowledge, 'boats', boats)
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/graph/boats`, 'alice')
  await page.getByLabel('Find').fill('Dick')
  await page.getByLabel('Find').press('Enter')
  await page.getByLabel('Find').fill('')
  await page.getByRole('button', { name: '5 things' }).waitFor()
  const picture = page.getByRole('img', { name: /^Graph of/ })
  await picture.focus()
  for (const key of ['ArrowLeft', '+', '-', '0']) await page.keyboard.press(key)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: '4 things' }).waitFor()
  await picture.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: '5 things' }).waitFor()
  t.strictSame(faults, [])
})

t.test('from a statement beside an answer to the passage that says it', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  await write(knowledge, 'boats', boats)
  const { page, faults } = await watchedPage(t, url)
  const asked: (string | null)[] = []
  page.on('request', (request) => {
    if (request.url().includes('/graph/retrieve')) asked.push(request.postData())
  })
  await signIn(page, `${url}/api/v1/inspector#/ask?q=haymaking`, 'alice')
  await page.getByRole('img', { name: /^Graph of/ }).waitFor()
  await page.getByRole('button', { name: 'Dick knows Ellen' }).click()
  await page.locator('.told').getByText('of the haymaking.').waitFor()
  t.strictSame(await page.locator('.told mark.said').allTextContents(), ['Dick', 'Ellen'])
  t.strictSame(await inaccessible(page), [])
  await page.getByRole('link', { name: 'Open it in the graph view' }).click()
  await page.getByText('What answers “haymaking”.').waitFor()
  await page.getByRole('button', { name: 'Show Ellen' }).waitFor()
  t.equal(asked.length, 2)
  t.equal(asked[0], asked[1], 'the graph view asks the same')
  t.strictSame(faults, [])
})

t.test('names stay whole at the edge of a narrow picture', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const ring = Array.from({ length: 14 }, (_, n): Triple[] => [
    ...named(`urn:n${n}`, `${n} is a name of considerable length`, 'Person'),
    { s: iri(`urn:n${n}`), p: knows, o: iri(`urn:n${(n + 1) % 14}`) },
  ]).flat()
  await write(knowledge, 'ring', ring)
  const { page, faults } = await watchedPage(t, url)
  await page.setViewportSize({ width: 320, height: 640 })
  await signIn(page, `${url}/api/v1/inspector#/graph/ring`, 'alice')
  await page.locator('canvas[data-done]').waitFor()
  const written = await writtenNames(page)
  t.ok(written.length > 3, 'names are seen')
  t.strictSame(
    written.filter(({ x, end, of }) => x < 0 || end > of),
    [],
    'none is cut',
  )
  t.strictSame(faults, [])
})

t.test('names do not lie on each other', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const crowd = Array.from({ length: 90 }, (_, n): Triple[] => [
    ...named(`urn:n${n}`, `WWW ${n} MMM`, 'Person'),
    { s: iri('urn:n0'), p: knows, o: iri(`urn:n${n}`) },
  ]).flat()
  await write(knowledge, 'crowd', crowd)
  const { page, faults } = await watchedPage(t, url)
  await page.setViewportSize({ width: 700, height: 800 })
  await signIn(page, `${url}/api/v1/inspector#/graph/crowd`, 'alice')
  await page.locator('canvas[data-done]').waitFor()
  const written = await writtenNames(page)
  t.ok(written.length > 10, `${written.length} names are seen`)
  const crossed = written.flatMap((one, at) =>
    written
      .slice(at + 1)
      .filter(({ x, end, y }) => Math.abs(y - one.y) < 13 && x < one.end && one.x < end)
      .map(({ text }) => `${one.text} and ${text}`),
  )
  t.strictSame(crossed, [])
  t.strictSame(faults, [])
})

t.test('who points at something has its name, and not all drawn anew', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  await write(knowledge, 'boats', boats)
  const { page, faults } = await watchedPage(t, url)
  await page.addInitScript(`globalThis.pointed = []
    const { fillText } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      pointed.push(text)
      fillText.call(this, text, x, y)
    }`)
  await signIn(page, `${url}/api/v1/inspector#/graph/boats`, 'alice')
  await page.locator('canvas[data-done]').waitFor()
  const thread = await drawingThread(
    page,
    `drawn = 0
    const { fillRect, fillText } = OffscreenCanvasRenderingContext2D.prototype
    Object.assign(OffscreenCanvasRenderingContext2D.prototype, {
      fillRect(...of) { drawn++; fillRect.apply(this, of) },
      fillText(text, x, y) {
        if (text === 'Dick') dickAt = [x, y]
        fillText.call(this, text, x, y)
      },
    })`,
  )
  const box = await page.locator('canvas').first().boundingBox()
  const [x, y] = await thread.evaluate<[number, number]>('dickAt')
  const before = await thread.evaluate<number>('drawn')
  t.ok(before > 0, 'all is drawn where the camera moves')
  // Names stand right of what they are of.
  await page.mouse.move((box?.x ?? 0) + x - 10, (box?.y ?? 0) + y)
  // Not waitForFunction(), whose second look the policy of the page keeps out.
  while (!(await page.evaluate<boolean>(`pointed.includes('Dick')`))) await page.waitForTimeout(50)
  await page.mouse.move((box?.x ?? 0) + 2, (box?.y ?? 0) + 2)
  await page.waitForTimeout(100)
  t.equal(await thread.evaluate('drawn'), before)
  t.strictSame(faults, [])
})

t.test('it goes out as pictures and as RDF', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  await write(knowledge, 'boats', boats)
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/graph/boats`, 'alice')
  await page.getByRole('button', { name: '5 things' }).waitFor()
  const saved = async (kind: string) => {
    await page.getByLabel('As a file').selectOption(kind)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save' }).click(),
    ])
    t.equal(file.suggestedFilename(), `boats.${kind}`)
    return readFileSync(await file.path())
  }
  t.equal((await saved('png')).subarray(1, 4).toString(), 'PNG')
  const svg = String(await saved('svg'))
  t.match(svg, /^<svg .*<text [^>]*>Ellen<\/text>/s)
  const lines = String(await saved('nt')).split('\n')
  t.ok(lines.includes(`<${dick}> <${knows.v}> <${ellen}> .`))
  t.ok(lines.includes(`<${dick}> <${label.v}> "Dick" .`))
  const spaced = '<http://example.org/lives\\u0020by>'
  t.ok(lines.includes(`<${ellen}> ${spaced} <${thames}> .`), 'an IRI stays one term')
  t.match(
    String(await saved('ttl')),
    /<http:\/\/example.org\/dick>\n(    <.*> ;\n)+    .* "Dick" ;\n/,
  )
  t.ok(String(await saved('nq')).includes(`<${knows.v}>`))
  t.strictSame(faults, [])
})

t.test('a picture is saved when all has its place, and is XML', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  await write(knowledge, 'boats', [...boats, ...named('urn:no', 'no\ufffe \uffffletter', 'Person')])
  const { page, faults } = await watchedPage(t, url)
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  await page.route(/\/layout-/, async (route) => {
    await held
    await route.continue()
  })
  await signIn(page, `${url}/api/v1/inspector#/graph/boats`, 'alice')
  await page.getByLabel('As a file').selectOption('svg')
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForTimeout(500)
  release()
  const svg = readFileSync(await (await saved).path(), 'utf8')
  t.match(svg, /no\ufffd \ufffdletter/)
  t.notMatch(svg, 'NaN')
  const root = `new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml').documentElement`
  t.equal(await page.evaluate(`${root}.nodeName`), 'svg')
  t.equal(await page.evaluate(`${root}.querySelectorAll('parsererror').length`), 0)
  t.strictSame(faults, [])
})

t.test('of what is too much a part is drawn, and said', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const many = Array.from({ length: 5200 }, (_, n) => ({
    s: iri(`http://example.org/n${n}`),
    p: knows,
    o: iri(`http://example.org/n${Math.floor(n / 20)}`),
  }))
  await write(knowledge, 'many', [
    ...many,
    ...Array.from({ length: 30 }, (_, n) => ({ s: iri(`urn:x${n}`), p: knows, o: iri('urn:hub') })),
    ...named('urn:hub', 'Runnymede', 'Place'),
  ])
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/graph/many`, 'alice')
  await page
    .getByText(/There are 5,232 statements.*around what has the most links, Runnymede/)
    .waitFor()
  await page.getByRole('button', { name: '31 things' }).waitFor()
  await page.getByLabel('Find').fill('urn:x7')
  await page.getByRole('button', { name: 'Show urn:x7' }).click()
  await page.getByRole('link', { name: 'Only around this' }).click()
  await page.getByText('What is around urn:x7.').waitFor()
  t.strictSame(await inaccessible(page), [])
  t.strictSame(faults, [])
})

t.test('while 1,000 nodes get their places the page answers', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true })
  const many = Array.from({ length: 3000 }, (_, n) => ({
    s: iri(`urn:n${n % 1000}`),
    p: knows,
    o: iri(`urn:n${(n * 7919) % 1000}`),
  }))
  await write(knowledge, 'many', many)
  await write(knowledge, 'few', many.slice(0, 3))
  const browser = await launch(t)
  const longestTask = async (core: string, things: string) => {
    const { page, faults } = await watchedPage(t, url, { browser })
    await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
    await page.getByRole('link', { name: core }).waitFor()
    const tasks = await tasksDuring(browser, page, async () => {
      await page.getByRole('link', { name: core }).click()
      await page.getByRole('button', { name: things }).waitFor()
      await page.locator('canvas[data-done]').waitFor()
    })
    t.ok(tasks.length > 100 && tasks.some(({ processorMs }) => processorMs > 0), 'tasks are seen')
    t.strictSame(faults, [])
    await page.close()
    return Math.max(...tasks.map(({ processorMs }) => processorMs))
  }
  // 21 to 36 ms where the longest task of a page of five things takes 14 to 22; where the machine is slower, both are
  // longer. A collection of the whole heap may be in one visit: what the page does for long is in each of them.
  const seen: string[] = []
  for (let visit = 0; visit < 3; visit++) {
    const ofMany = await longestTask('many', '1,000 things')
    if (ofMany <= 50) return
    const ofFew = await longestTask('few', '5 things')
    if (ofMany <= 2.5 * ofFew) return
    seen.push(`${ofMany} ms beside ${ofFew} ms`)
  }
  t.fail(`no task of more than 50 ms, or much more than a page of few has: ${seen.join(', ')}`)
})

const attack = `"'><img src=x onerror="hit=1"><script>hit=1</script>`

t.test('hostile names and relations are text in the picture and beside it', { skip }, async (t) => {
  const { url, knowledge } = await serve(t, { inspector: true, sparql: createSparql() })
  const hostile = Array.from({ length: 4 }, (_, n): Triple[] => [
    ...named(
      `urn:h${n}`,
      `${attack}\u202eevil\u2066${'B'.repeat(n === 0 ? 1_000_000 : 1)}`,
      attack,
    ),
    { s: iri(`urn:h${n}`), p: iri(`javascript:hit=${n}`), o: iri(`javascript:hit='${attack}'`) },
  ]).flat()
  await write(knowledge, 'hostile', hostile)
  const { page, faults } = await watchedPage(t, url)
  const unharmed = async (what: string) => {
    t.equal(await page.evaluate('globalThis.hit'), undefined, `${what}: nothing has run`)
    const widths = '[document.documentElement.scrollWidth, innerWidth]'
    const [inner, outer] = await page.evaluate<[number, number]>(widths)
    t.equal(inner, outer, `${what}: as wide as the window`)
    t.equal(await page.locator('main img, main script').count(), 0, what)
    t.equal(await page.locator('a[href^="javascript"]').count(), 0, what)
  }
  await signIn(page, `${url}/api/v1/inspector#/graph`, 'alice')
  await page.getByRole('button', { name: '5 things' }).waitFor()
  await page.getByRole('button', { name: /^Show/ }).first().click()
  await page.getByRole('region', { name: 'Thing', exact: true }).waitFor()
  await page.locator('canvas[data-done]').waitFor()
  await unharmed('graph')
  await page.getByRole('button', { name: '4 links' }).click()
  await page
    .getByRole('button', { name: /^Passages/ })
    .first()
    .click()
  await page.getByText('No passage is known to say this.').waitFor()
  await unharmed('links')
  const query = encodeURIComponent('SELECT * { ?s ?p ?o }')
  await page.evaluate(`location.hash = '#/sparql?query=${query}'`)
  await page.getByText(/^12 results in/).waitFor()
  await unharmed('sparql')
  await page.getByRole('button', { name: 'Graph', exact: true }).click()
  await page.getByRole('button', { name: '5 things' }).waitFor()
  await unharmed('results as graph')
  t.strictSame(faults, [])
})

t.test('of more than can be drawn a part is, wherever it comes from', { skip }, async (t) => {
  const { url } = await serve(t, { inspector: true, sparql: createSparql() })
  const { page, faults } = await watchedPage(t, url)
  const line = (n: number) => `<urn:a${n}> <${knows.v}> <urn:b${n}> .\n`
  const body = Array.from({ length: 3000 }, (_, n) => line(n)).join('')
  const contentType = 'application/n-triples'
  await page.route(/\/v1\/sparql/, (route) => route.fulfill({ contentType, body }))
  await signIn(page, `${url}/api/v1/inspector#/sparql?query=CONSTRUCT`, 'alice')
  await page.getByText(/^These are 5,000 of 6,000 things/).waitFor()
  await page.getByRole('button', { name: '5,000 things' }).waitFor()
  await page.getByRole('button', { name: '2,500 links' }).waitFor()
  t.strictSame(await inaccessible(page), [])
  t.strictSame(faults, [])
})

t.test('what is put away makes room for what was not drawn', async (t) => {
  const leaf = (n: number): Triple => ({ s: iri('urn:hub'), p: knows, o: iri(`urn:${n}`) })
  const leaves = Array.from({ length: mostNodes }, (_, n) => leaf(n))
  const late = [
    { s: iri('urn:x'), p: type, o: iri('urn:Late') },
    { s: iri('urn:x'), p: knows, o: iri('urn:y') },
  ]
  const shown = withTriples(nothing, [...leaves, ...late])
  const none = { kinds: new Set<string>(), relations: new Set<string>() }
  const drawn = drawnOf(shown, none)
  t.equal(drawn.nodes.length, mostNodes)
  t.equal(drawn.all, mostNodes + 3)
  t.equal(drawn.links.length, mostNodes - 1)
  t.equal(drawn.places.get('urn:x'), undefined)
  const less = drawnOf({ ...shown, collapsed: new Set(['urn:hub']) }, none)
  t.strictSame([...less.places.keys()], ['urn:hub', 'urn:x', 'urn:y'])
  t.equal(less.all, 3)
  t.strictSame(
    less.links.map(({ from, to }) => [from, to]),
    [[1, 2]],
  )
})

/** The thread that draws, when all was drawn once more as it was, after something was run in it. */
async function drawingThread(page: Page, run: string): Promise<Worker> {
  const thread = page.workers().find((worker) => worker.url().includes('/drawing-'))
  if (thread === undefined) throw new Error('nothing draws')
  await thread.evaluate(run)
  await page.getByRole('img', { name: /^Graph of/ }).focus()
  await page.keyboard.press('+')
  await page.keyboard.press('0')
  await page.waitForTimeout(300)
  return thread
}

interface WrittenName {
  readonly text: string
  /** From here to `end`, in a picture so wide. */
  readonly x: number
  readonly end: number
  readonly of: number
  readonly y: number
}

/** The names of things in the picture as it was drawn last. */
async function writtenNames(page: Page): Promise<readonly WrittenName[]> {
  const thread = await drawingThread(
    page,
    `written = []
    const { fillRect, fillText } = OffscreenCanvasRenderingContext2D.prototype
    Object.assign(OffscreenCanvasRenderingContext2D.prototype, {
      fillRect(...of) { written = []; fillRect.apply(this, of) },
      fillText(text, x, y) {
        const end = x + this.measureText(text).width
        if (this.textAlign === 'start') written.push({ text, x, end, of: this.canvas.width, y })
        fillText.call(this, text, x, y)
      },
    })`,
  )
  return thread.evaluate<WrittenName[]>('written')
}
