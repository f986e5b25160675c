// What the public types admit and what not: an error that is expected and not there fails the
// compiler, which npm test runs over all of this.

import t from 'tap'
import { MemoryBackend } from '../adapters/memory.js'
import { chunk, type ChunkOutput } from '../src/flow/steps/index.js'
import type { RemoteObjects } from '../src/client/index.js'
import { createLorekeep, hasCode } from '../src/index.js'
import type {
  CoreRef,
  Filters,
  FlowDefinition,
  IndexState,
  JobEvent,
  LibraryIndexState,
  JsonObject,
  ObjectStore,
  OfUser,
  Step,
} from '../src/index.js'

interface Product {
  readonly id: string
  readonly price: number
  readonly tags: readonly string[]
  readonly maker?: { readonly country: string }
  readonly note?: string | null
}

const any: readonly Filters[] = [
  {},
  { price: 3, name: null, tags: ['a'], maker: { country: 'DE' } },
  { price: { $gt: 1, $lte: 3 }, 'maker.country': { $in: ['DE', null] } },
  { $or: [{ a: { $exists: 1 } }, { a: { $not: { $size: 2 } } }], $comment: 'why' },
  { lines: { $elemMatch: { sku: 'a', n: { $mod: [2, 0] } } }, tags: { $all: ['a'] } },
  { name: { $regex: '^a', $options: 'i' }, kind: { $type: ['string', 10] } },
]
const products: readonly Filters<Product>[] = [
  { price: { $in: [1, 2] }, tags: 'a', note: null, 'maker.country': 'DE', _user: 'alice' },
  { $and: [{ tags: { $all: ['a', 'b'] } }, { maker: { country: 'DE' } }] },
]

const wrong: readonly unknown[] = [
  // @ts-expect-error: no such operator
  { price: { $ltt: 3 } } satisfies Filters,
  // @ts-expect-error: nor inside others
  { $or: [{ price: { $not: { $ltt: 3 } } }] } satisfies Filters,
  // @ts-expect-error: no such operator at the top
  { $adn: [{ price: 1 }] } satisfies Filters<Product>,
  // @ts-expect-error: no such field
  { prise: 3 } satisfies Filters<Product>,
  // @ts-expect-error: a number is compared with no string
  { price: { $gt: 'a' } } satisfies Filters<Product>,
]

/** Members of some events can be taken apart before the type is asked. */
function told({ type, step, done, total, failure }: JobEvent): string {
  if (type === 'progress') return `${step.length} ${done.toFixed()} ${total.toFixed()}`
  if (type === 'dead') return failure.message
  return type
}

const counted: Step<ChunkOutput, number> = { name: 'n', run: ({ chunks }) => chunks.length }
const flow: FlowDefinition = {
  id: 'f',
  steps: [
    'chunk',
    chunk({ size: 100 }),
    counted,
    { name: 'words', run: async ({ text }: { text: string }) => text.split(' ') },
    // @ts-expect-error: a step has a name
    { run: () => 1 },
  ],
}

t.test('objects are of the type that is asked for', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  t.equal([any, products, wrong, told, flow].length, 5)
  await keep.objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  const schema_name = 's'
  const { objects, next } = await keep.objects.query<Product>({ schema_name })
  const prices: number[] = objects.map(({ price, _user }) => price + _user.length)
  const page = await keep.objects.query<Product>({ schema_name, fields: ['price'], after: next })
  // @ts-expect-error: it may be left out
  const some: number[] = page.objects.map(({ price }) => price)
  t.strictSame([prices, some], [[], []])
  for await (const { tags } of keep.objects.find<Product>({ schema_name })) t.notOk(tags.length)
  const saw = await keep.objects.get<Product>('c', 'saw')
  t.equal(saw?.price.toFixed(), undefined)
})

t.test(
  'objects of an interface are stored as such of a type are, as far as they are JSON',
  async (t) => {
    const keep = await createLorekeep({ backend: new MemoryBackend() })
    t.teardown(() => keep.close())
    await keep.objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
    const schema_name = 's'
    const metadata = { id: 'b', user: 'u', collection: 'c' }
    const saw: Product = { id: 'saw', price: 3, tags: [], maker: { country: 'DE' } }
    const { imported } = await keep.objects.import({ metadata, schema_name, values: [saw] })
    const replaced = await keep.objects.replace('c', 'saw', saw)
    const cheaper: Partial<Product> = { price: 2 }
    const changed = await keep.objects.patch('c', 'saw', cheaper)
    t.strictSame([imported, replaced?.['price'], changed?.['price']], [1, 3, 2])

    interface Dated {
      readonly id: string
      readonly since: Date
    }
    interface Acting {
      readonly id: string
      act(): void
    }
    type Deep = { readonly id: string; readonly made: { readonly by: undefined } }
    const refused = (
      { import: load, replace, patch }: ObjectStore,
      remote: RemoteObjects,
      [dated, acting, deep, any]: readonly [Dated, Acting, Deep, unknown],
    ) => [
      // @ts-expect-error: a Date is no JSON
      load({ metadata, schema_name, values: [dated] }),
      // @ts-expect-error: nor is a function
      load({ metadata, schema_name, values: [acting] }),
      // @ts-expect-error: nor is undefined, at any depth
      load({ metadata, schema_name, values: [deep] }),
      // @ts-expect-error: nor is there anything of what is unknown
      load({ metadata, schema_name, values: [any] }),
      // @ts-expect-error: a literal is looked at, too
      load({ metadata, schema_name, values: [{ id: 'a', since: new Date() }] }),
      // @ts-expect-error: a number is no object
      load({ metadata, schema_name, values: [3] }),
      // @ts-expect-error: as of imports
      replace('c', 'saw', dated),
      // @ts-expect-error: as of imports
      patch('c', 'saw', { act() {} }),
      // @ts-expect-error: as in process
      remote.import({ metadata, schema_name, values: [dated] }),
      // @ts-expect-error: as in process
      remote.replace('c', 'saw', acting),
    ]
    const taken = (objects: ObjectStore, remote: RemoteObjects, values: readonly JsonObject[]) => [
      objects.import({ metadata, schema_name, values }),
      objects.import({ metadata, schema_name, values: [] }),
      objects.import({
        metadata,
        schema_name,
        values: [
          { id: 'a', n: 1 },
          { id: 'b', list: [null] },
        ],
      }),
      objects.import<Product>({
        metadata,
        schema_name,
        values: [{ id: 'a', price: 1, tags: ['x'] }],
      }),
      objects.patch('c', 'saw', { price: null, maker: { country: 'FR' } }),
      remote.import({ metadata, schema_name, values: [saw] }),
      remote.import('{}'),
      remote.replace('c', 'saw', saw),
      remote.patch('c', 'saw', cheaper),
    ]
    t.strictSame([refused.length, taken.length], [3, 3])
  },
)

t.test('an index is that of a core, or of all that a user has', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const all: OfUser = { user: 'u' }
  const ref: CoreRef = { user: 'u', id: 'i' }
  await keep.knowledge.write(ref, [])
  const library: LibraryIndexState = await keep.knowledge.index(all)
  const core: IndexState = await keep.knowledge.indexState(ref)
  t.strictSame([library.waiting.segments, core.segments], [0, 0])
  // @ts-expect-error: of all there is no number of segments
  t.equal((await keep.knowledge.indexState(all)).segments, undefined)
  // @ts-expect-error: a core has an id
  const nobody: OfUser = { user: 'u', id: 'i' }
  t.equal(nobody.user, 'u')
})

t.test('details have the type of their code', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const importing = keep.knowledge.import({ user: 'u', id: 'i' }, [Buffer.of(0xc1)])
  const error: unknown = await importing.catch((error: unknown) => error)
  if (!hasCode(error, 'LK_CORE_FORMAT')) return t.fail('no such error')
  const offset: number = error.details.byteOffset
  t.equal(offset, 0)
  const query = keep.objects.query({ schema_name: '' })
  const refused: unknown = await query.catch((error: unknown) => error)
  if (!hasCode(refused, 'LK_QUERY')) return t.fail('no such error')
  t.strictSame(
    refused.details.errors.map(({ path }) => path.toUpperCase()),
    ['SCHEMA_NAME'],
  )
})
