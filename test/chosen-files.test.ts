import t from 'tap'
import { chosenFiles, longFiles } from './chosen-files.js'

const files = [
  'test/a.test.ts',
  'test/b.test.ts',
  'test/flow/model.test.ts',
  'test/flow/slow.test.ts',
]
const known = { 'test/b.test.ts': 7, 'test/flow/model.test.ts': 20, 'test/flow/slow.test.ts': 9 }

t.test(
  'a run has the files that are not long and those that everything rests on, or the others',
  async (t) => {
    t.strictSame(chosenFiles(files, known, {}), ['test/flow/model.test.ts', 'test/a.test.ts'])
    const long = chosenFiles(files, known, { long: true })
    t.strictSame(long, ['test/flow/slow.test.ts', 'test/b.test.ts'])
    t.strictSame(chosenFiles(files, known, { all: true }).toSorted(), files)
    const under = chosenFiles(files, known, { long: true, paths: ['test/flow', 'test/a.test.ts'] })
    t.strictSame(under, ['test/flow/model.test.ts', 'test/flow/slow.test.ts', 'test/a.test.ts'])
  },
)

t.test('what took long stays so while other files are recorded', async (t) => {
  const [a, b] = files as [string, string]
  const first = longFiles(files, { [a]: 3.2, [b]: 3 })
  t.strictSame(first, { [a]: 4 })
  t.strictSame(longFiles(files, { ...first, [b]: 12.1 }), { [a]: 4, [b]: 13 })
  t.strictSame(longFiles(files, { ...first, [a]: 1 }), {}, 'and no longer where it is faster')
  t.strictSame(longFiles([b], first), {}, 'and not where it is gone')
})
