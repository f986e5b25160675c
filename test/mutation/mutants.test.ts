import t from 'tap'
import { mutantsOf } from './mutants.js'

function mutated(source: string): string[] {
  return mutantsOf(source).map(({ start, end, replacement }) => {
    return source.slice(0, start) + replacement + source.slice(end)
  })
}

t.test('conditions, comparisons, numbers, statements and awaits are changed', async (t) => {
  t.strictSame(mutated('if (a < 1) b()'), [
    'if (!(a < 1)) b()',
    'if (a <= 1) b()',
    'if (a < (1 + 1)) b()',
    'if (a < 1) ;',
  ])
  t.strictSame(mutated('const a = await b(!c) ?? d'), [
    'const a = await b(!c)',
    'const a = b(!c) ?? d',
    'const a = await b((c)) ?? d',
  ])
  t.strictSame(mutated('const o = { sync: true }'), ['const o = { sync: false }'])
  t.strictSame(mutated('const s = x ? y + z : w'), [
    'const s = !(x) ? y + z : w',
    'const s = x ? y - z : w',
  ])
})

t.test('wording, imports, tables and helpers are left alone', async (t) => {
  for (const source of [
    "import { a } from 'b'",
    'const e = new LorekeepError("A", a > 1 ? "x" : "y")',
    'const e = `${a + 1}`',
    "const e = 'a' + b",
    'const table = [0, 1, 2, 3, 4, 5, 6, 7, 8]',
    'var __dispose = (this && this.__dispose) || function (a) { if (a !== null) a() }',
  ]) {
    t.strictSame(mutated(source), [], source)
  }
})

t.test('each change is still JavaScript', async (t) => {
  const source = 'for (let i = 0; i < n; i++) { if (!a || b) { c -= 1; continue } else return }'
  const found = mutated(`async function f() { ${source}; for await (const x of y) await x }`)
  t.ok(found.length > 8)
  for (const text of found) t.doesNotThrow(() => new Function(text), text)
})
