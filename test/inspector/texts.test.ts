// Every word that the page says is in one file.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { bytesText, timeText } from '../../src/inspector/parts/figures.js'

const folder = 'src/inspector'

/** What of an element is read by somebody. */
const read = new Set(['title', 'label', 'name', 'hint', 'lead', 'text', 'button', 'placeholder'])

t.test('no words stand elsewhere', async (t) => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const sources = files.filter((name) => /\.tsx?$/.test(name) && name !== 'texts.ts')
  t.ok(sources.length > 50)
  const found = sources.flatMap((name) => wordsIn(readFileSync(join(folder, name), 'utf8'), name))
  t.strictSame(found, [])
  const inOne = `const a = <Fact name="Node" aria-label={'Of it'}>Yes {'no'}</Fact>
    throw new Error('none'); n.toFixed(1)`
  t.strictSame(wordsIn(inOne, 'a.tsx'), [
    'a.tsx: "Node"',
    "a.tsx: 'Of it'",
    'a.tsx: Yes',
    "a.tsx: 'no'",
    "a.tsx: 'none'",
    'a.tsx: toFixed',
  ])
})

t.test('sizes and times are written as the language does', async (t) => {
  const sizes = [0, 999, 999.4, 999.5, 1000, 12_345, 123_456, 999_499, 1e6, 2.5e9, 1e12, 5e15]
  t.strictSame(sizes.map(bytesText), [
    ...['0 B', '999 B', '999 B', '1.00 kB', '1.00 kB', '12.3 kB', '123 kB', '999 kB'],
    ...['1.00 MB', '2.50 GB', '1.00 TB', '5,000 TB'],
  ])
  t.equal(timeText('2026-11-27T05:06:07.089Z'), '2026-11-27 05:06:07 UTC')
})

/** Letters between tags, in what is read of them, and in errors; and numbers that know one language. */
function wordsIn(source: string, name: string): readonly string[] {
  const found: string[] = []
  const say = (text: string) => void found.push(`${name}: ${text.trim()}`)
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX)
  const look = (node: ts.Node): void => {
    if (ts.isJsxText(node) && hasWord(node.text)) say(node.text)
    if (ts.isStringLiteralLike(node) && hasWord(node.text) && isSeen(node)) say(node.getText())
    if (ts.isIdentifier(node) && /^to(Fixed|Precision|Locale\w*)$/.test(node.text)) say(node.text)
    node.forEachChild(look)
  }
  look(file)
  return found
}

function hasWord(text: string): boolean {
  return /\p{L}|–/u.test(text)
}

function isSeen({ parent }: ts.Node): boolean {
  if (ts.isNewExpression(parent)) return parent.expression.getText() === 'Error'
  const attribute = ts.isJsxExpression(parent) ? parent.parent : parent
  if (ts.isJsxAttribute(attribute)) {
    const name = attribute.name.getText()
    return read.has(name) || name === 'aria-label'
  }
  return ts.isJsxExpression(parent)
}
