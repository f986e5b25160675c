import t from 'tap'
import { checkManifest, readManifest } from '../../src/tgx/manifest.js'

const format = { format: 'tgx', format_version: 1 }
const refused = { code: 'LK_WORKSPACE_FORMAT', details: { member: 'manifest.json' } }

t.test('a manifest is read as far as it says something', async (t) => {
  t.strictSame(readManifest(format), {})
  const knowledge = { collections: ['a'], documents: 2, triples: { a: 3, __proto__: 1 } }
  const said = { ...format, workspace: 'w', exported_at: 'then', contents: {}, knowledge }
  t.strictSame(readManifest(said), {
    workspace: 'w',
    exportedAt: 'then',
    documents: 2,
    triples: new Map([['a', 3]]),
  })
})

t.test('what is no manifest, or of another version, is refused', async (t) => {
  for (const json of [null, [], 'tgx', {}, { format: 'zip' }, { format: 'tgx' }]) {
    t.throws(() => readManifest(json), refused)
  }
  t.throws(() => readManifest({ ...format, format_version: 2 }), {
    ...refused,
    details: { member: 'manifest.json', version: 2 },
  })
  t.throws(() => readManifest({ ...format, format_version: '1' }), refused)
  t.throws(() => readManifest({ ...format, knowledge: { triples: { a: '1' } } }), refused)
})

t.test('what it says has to be there, and nothing else', async (t) => {
  const check = (knowledge: object, triples: Readonly<Record<string, number>>, documents = 0) =>
    checkManifest(
      readManifest({ ...format, knowledge }),
      new Map(Object.entries(triples)),
      documents,
    )
  check({}, { a: 1 }, 5)
  check({ documents: 5 }, { a: 1 }, 5)
  check({ triples: { a: 1, empty: 0 } }, { a: 1 }, 5)
  t.throws(() => check({ documents: 5 }, {}, 4), refused)
  t.throws(() => check({ triples: { a: 2 } }, { a: 1 }), refused)
  t.throws(() => check({ triples: { a: 1 } }, { a: 1, b: 1 }), refused)
  t.throws(() => check({ triples: { a: 1, b: 1 } }, { a: 1 }), refused)
})
