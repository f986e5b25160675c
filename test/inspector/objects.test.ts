// Objects changed by hand, made, and taken out as files.

import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Page } from 'playwright-core'
import { placesIn } from '../../src/inspector/parts/json-places.js'
import { outputOf } from '../../src/inspector/views/objects/output.js'
import type { StoredObject } from '../../src/objects/types.js'
import { serve } from '../http/fixtures/serving.js'
import {
  inaccessible,
  inaccessibleByDayAndNight,
  noBrowser,
  signIn,
  watchedPage,
} from './browser.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

t.test('a path leads to its place in a text', async (t) => {
  const text = ' {"a": [1, {"b c": "x\\"}"}], "d": {"e": null}, "é": [] } '
  const found = [...placesIn(text)].map(([path, { start, end }]) => [path, text.slice(start, end)])
  t.strictSame(Object.fromEntries(found), {
    'a[0]': '1',
    'a[1]["b c"]': '"x\\"}"',
    'a[1]': '{"b c": "x\\"}"}',
    a: '[1, {"b c": "x\\"}"}]',
    'd.e': 'null',
    d: '{"e": null}',
    é: '[]',
    '': text.trim(),
  })
})

t.test('a text of millions of letters has its place', async (t) => {
  for (const letters of ['x', '\\"']) {
    const long = JSON.stringify(letters.repeat(10_000_000))
    const text = `{"a": ${long}, "b": 7}`
    const [a, b] = ['a', 'b'].map((path) => placesIn(text).get(path))
    t.strictSame(a, { start: 6, end: 6 + long.length })
    t.equal(text.slice(b?.start, b?.end), '7')
  }
  t.throws(() => placesIn('{"a": "b}'), SyntaxError)
})

t.test('a table quotes what has to be quoted, and lines are JSON', async (t) => {
  const object = { _id: 7, _collection: 'c', a: 'x,"y"\nz', b: [1, 2], c: null, d: true, e: 'é' }
  const found = async function* () {
    yield object as unknown as StoredObject
  }
  const textOf = async (format: 'csv' | 'ndjson') => {
    const pieces = outputOf(
      found(),
      format,
      ['a', 'b', 'c', 'd', 'e', 'f'],
      AbortSignal.timeout(1e6),
    )
    let text = ''
    for await (const piece of pieces) text += Buffer.from(piece).toString()
    return text
  }
  t.equal(
    await textOf('csv'),
    '_id,_collection,a,b,c,d,e,f\r\n7,c,"x,""y""\nz","[1,2]",,true,é,\r\n',
  )
  t.strictSame(JSON.parse(await textOf('ndjson')), object)
})

t.test('in a table nothing is a formula', async (t) => {
  const texts = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', "'=1", 'a=1', '']
  const found = async function* () {
    yield { _id: '=id', _collection: 'c', ...texts, n: -1 } as unknown as StoredObject
  }
  const fields = [...texts.keys(), 'n'].map(String)
  const pieces = outputOf(found(), 'csv', fields, AbortSignal.timeout(1e6))
  let table = ''
  for await (const piece of pieces) table += Buffer.from(piece).toString()
  t.equal(
    table.slice(table.indexOf('\r\n') + 2),
    `'=id,c,'=1+1,'+1,'-1,'@SUM(A1),'\t=1,"'\r=1","'\n=1",'=1,a=1,,-1\r\n`,
    'what is no text is as it was',
  )
})

const schema = {
  name: 'boats',
  fields: {
    id: { type: 'string' },
    oars: { type: 'integer', min: 0, max: 12 },
    name: { type: 'string', required: true },
  },
  indexes: ['name'],
} as const

async function withBoats(t: Parameters<typeof serve>[0], boats: number) {
  const serving = await serve(t, { inspector: true })
  await serving.objects.defineSchema(schema)
  const values = Array.from({ length: boats }, (_, n) => ({
    id: `b${n}`,
    oars: n % 7,
    name: `boat, ${n}`,
  }))
  const metadata = { id: 'batch', user: 'alice', collection: 'default' }
  for (let at = 0; at < boats; at += 5000) {
    const batch = values.slice(at, at + 5000)
    await serving.objects.import({ metadata, schema_name: 'boats', values: batch })
  }
  return serving
}

const editor = (page: Page) => page.getByRole('dialog').getByLabel('JSON')
const press = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name })

t.test('an object is changed where nobody else has', { skip }, async (t) => {
  const { url, objects } = await withBoats(t, 3)
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/objects`, 'alice')
  await page.getByRole('button', { name: 'Edit b1' }).click()
  t.strictSame(JSON.parse(await editor(page).inputValue()), {
    id: 'b1',
    oars: 1,
    name: 'boat, 1',
  })
  await editor(page).fill('{"id": "b1",\n "oars": 99,\n "name": 7}')
  await press(page, 'Save').click()
  await press(page, 'Line 2').click()
  const selected = `(() => { const { value, selectionStart, selectionEnd } = document.activeElement
    return value.slice(selectionStart, selectionEnd) })()`
  t.equal(await page.evaluate(selected), '99', 'it is led to what is wrong')
  t.strictSame(await page.locator('.code mark').allTextContents(), ['99', '7'])
  t.strictSame(await inaccessibleByDayAndNight(page), [], 'what the schema refuses')
  await editor(page).fill('{"id": "b1"')
  await press(page, 'Save').click()
  await page.getByRole('alert').waitFor()
  await editor(page).fill('{"id": "b1", "oars": 9, "name": "mine"}')
  await objects.patch('default', 'b1', { name: 'theirs' })
  await press(page, 'Save').click()
  await page.getByText('Somebody changed it meanwhile.').waitFor()
  t.match(await page.getByRole('dialog').locator('pre').last().textContent(), /"theirs"/)
  t.equal((await objects.get('default', 'b1'))?.['name'], 'theirs', 'it is not overwritten')
  t.strictSame(await inaccessibleByDayAndNight(page), [], 'what somebody else changed')
  await press(page, 'Keep mine').click()
  await press(page, 'Save').click()
  await page.getByRole('cell', { name: 'mine' }).waitFor()
  t.match(await objects.get('default', 'b1'), { name: 'mine', oars: 9 })
  // A precondition that fails is said to the console by the browser itself.
  t.strictSame(
    faults.filter((fault) => !/status of (400|412|422)/.test(fault)),
    [],
  )
})

t.test('what was written is not lost by a key', { skip }, async (t) => {
  const { url } = await withBoats(t, 1)
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/objects`, 'alice')
  await page.getByRole('button', { name: 'Edit b0' }).click()
  await editor(page).fill('{"id": "b0", "name": "mine"}')
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape')
  t.match(await editor(page).inputValue(), /mine/)
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.dismiss()
  })
  await page.reload({ timeout: 2000 }).catch(() => undefined)
  t.strictSame(asked, ['beforeunload'])
  t.match(await editor(page).inputValue(), /mine/)
  await press(page, 'Cancel').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Edit b0' }).click()
  await editor(page).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  t.strictSame(faults, [])
})

t.test('who goes back while an object is edited is asked first', { skip }, async (t) => {
  const { url } = await withBoats(t, 1)
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  await page.getByText('No cores yet').waitFor()
  await page.getByRole('link', { name: 'Objects' }).click()
  await page.getByRole('button', { name: 'Edit b0' }).click()
  await editor(page).fill('{"id": "b0", "name": "mine"}')
  const asked: string[] = []
  let goes = false
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    void (goes ? dialog.accept() : dialog.dismiss())
  })
  const go = (steps: number) => page.evaluate(`history.go(${steps})`)
  const settled = async () => {
    await page.waitForTimeout(500)
    await page.waitForURL(/#\/objects$/)
    t.match(await editor(page).inputValue(), /mine/)
  }
  await go(-1)
  await settled()
  await page.evaluate(`location.hash = '#/queue'`)
  await settled()
  await go(1)
  await settled()
  t.equal(asked.length, 3, 'back, elsewhere, and on')
  t.match(asked[0], 'not saved')
  goes = true
  await go(-1)
  await page.getByText('No cores yet').waitFor()
  t.equal(await page.getByRole('dialog').count(), 0)
  await go(1)
  await page.getByRole('button', { name: 'Edit b0' }).click()
  await editor(page).waitFor()
  await go(-1)
  await page.getByText('No cores yet').waitFor()
  t.equal(asked.length, 4, 'where nothing was written nobody is asked')
  t.strictSame(faults, [])
})

t.test('who stays is led back over steps with one address as well', { skip }, async (t) => {
  const { url } = await withBoats(t, 1)
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/cores`, 'alice')
  const go = (steps: number) => page.evaluate(`history.go(${steps})`)
  await page.evaluate(`location.hash = '#/cores?prefix=x'`)
  await page.getByText('No name begins with this.').waitFor()
  await page.getByLabel('Name begins with').fill('')
  await page.waitForURL(/#\/cores$/)
  await go(-1)
  await page.waitForTimeout(500)
  await page.getByRole('link', { name: 'Objects' }).click()
  await page.getByRole('button', { name: 'Edit b0' }).click()
  await editor(page).fill('{"id": "b0", "name": "mine"}')
  page.on('dialog', (dialog) => void dialog.dismiss())
  await go(-1)
  await page.waitForTimeout(500)
  await page.waitForURL(/#\/objects$/)
  t.match(await editor(page).inputValue(), /mine/)
  t.strictSame(faults, [])
})

t.test('what is being saved cannot be left', { skip }, async (t) => {
  const { url } = await withBoats(t, 1)
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/objects`, 'alice')
  let goOn = () => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  await page.route('**/objects/**', async (route) => {
    if (/PUT|PATCH/.test(route.request().method())) await held
    await route.continue()
  })
  await page.getByRole('button', { name: 'Edit b0' }).click()
  await editor(page).fill('{"id": "b0", "name": 7}')
  await press(page, 'Save').click()
  t.ok(await press(page, 'Cancel').isDisabled())
  goOn()
  await page.getByRole('dialog').getByText('name').first().waitFor()
  await page.getByRole('button', { name: 'Cancel', disabled: false }).waitFor()
  t.strictSame(
    faults.filter((fault) => !fault.includes('422') && !fault.includes('400')),
    [],
  )
})

t.test('an object is made, and refused where it is none', { skip }, async (t) => {
  const { url, objects } = await withBoats(t, 1)
  const { page } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/objects`, 'alice')
  await page.getByRole('button', { name: 'New object' }).click()
  t.strictSame(JSON.parse(await editor(page).inputValue()), { id: '', name: '' })
  await editor(page).fill('{"id": "b0", "name": "another"}')
  await press(page, 'Save').click()
  await page.getByText('LK_OBJECT_DUPLICATE').waitFor()
  await editor(page).fill('{"id": "new", "name": "x", "oars": -1}')
  await press(page, 'Save').click()
  await press(page, 'Line 1').waitFor()
  await page.getByRole('dialog').getByLabel('Collection').fill('harbour')
  await editor(page).fill('{"id": "new", "name": "Swift"}')
  await press(page, 'Save').click()
  await page.getByRole('cell', { name: 'Swift' }).waitFor()
  t.match(await objects.get('harbour', 'new'), { name: 'Swift', _user: 'alice' })
})

t.test('all that fits goes into a file, and how it is found is drawn', { skip }, async (t) => {
  const { url } = await withBoats(t, 2500)
  const { page, faults } = await watchedPage(t, url)
  await page.addInitScript('delete globalThis.showSaveFilePicker')
  await signIn(page, `${url}/api/v1/inspector#/objects`, 'admin')
  await page.getByText('2,500 objects').waitFor()
  await page.getByText('Put a condition together').click()
  await page.getByLabel('Field').selectOption('oars')
  await page.getByLabel('Is').selectOption('less than')
  await page.getByLabel('Value').fill('4')
  await page.getByRole('button', { name: 'Add to the filter' }).click()
  await page.getByText('1,429 objects').waitFor()
  t.equal(await page.getByLabel('Filter', { exact: true }).inputValue(), '{"oars":{"$lt":4}}')
  for (const [label, lines] of [
    ['NDJSON', 1429],
    ['CSV', 1430],
  ] as const) {
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: `Save all as ${label}` }).click(),
    ])
    const text = readFileSync(await saved.path(), 'utf8').trimEnd()
    t.equal(text.split('\n').length, lines)
    t.match(text, /boat, 2499/)
  }
  await page.getByLabel('Filter', { exact: true }).fill('{"name": "boat, 7"}')
  await page.getByText('How it is found').click()
  await page.getByText('In the index of name').waitFor()
  t.strictSame(await inaccessible(page), [])
  t.strictSame(faults, [])
})

t.test('a filter that is wrong finds nothing in place of everything', { skip }, async (t) => {
  const { url } = await withBoats(t, 3)
  const { page, faults } = await watchedPage(t, url)
  await signIn(page, `${url}/api/v1/inspector#/objects`, 'admin')
  await page.getByText('3 objects').waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  for (const wrong of ['{"oars"', '7']) {
    await page.getByLabel('Filter', { exact: true }).fill(wrong)
    await page.getByText('This is no JSON object yet').waitFor()
    // Longer than a field waits for the next letter.
    await page.waitForTimeout(600)
    t.equal(await page.getByRole('table').count(), 0, wrong)
    t.equal(await page.getByText('3 objects').count(), 0, wrong)
  }
  t.strictSame(asked, [], 'nothing is asked')
  await page.getByLabel('Filter', { exact: true }).fill('{"oars": 1}')
  await page.getByText('1 object', { exact: true }).waitFor()
  t.equal(await page.getByRole('row').count(), 2)
  t.strictSame(faults, [])
})
