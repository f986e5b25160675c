// What MongoDB 7 refuses: see filters.ts.

import type { JsonObject } from '../../../../src/types.js'
import type { Sort } from './sorts.js'

/** Filters that are refused. */
export const refusedFilters: readonly (readonly [string, JsonObject])[] = [
  ['jstests/core/query/array/arrayfind2.js', { a: { $all: [1, { $elemMatch: { x: 3 } }] } }],
  ['src/mongo/db/matcher, $all', { a: { $all: [{ $elemMatch: { x: 3 } }, 1] } }],
  ['src/mongo/db/matcher, $all', { a: { $all: [{ $elemMatch: { x: 3 } }, {}] } }],
  ['src/mongo/db/matcher, $all', { a: { $all: [{ $gt: 3 }] } }],
  ['jstests/core/query/not/not2.js', { i: { $not: 'a' } }],
  ['jstests/core/query/not/not2.js', { i: { $not: {} } }],
  ['jstests/core/query/not/not2.js', { i: { $not: { $not: 'a' } } }],
  ['jstests/core/query/not/not2.js', { i: { $not: { $options: 'a' } } }],
  ['jstests/core/query/regex/regex_options.js', { a: { $regex: '^hello.*', $options: 'g' } }],
  ['jstests/core/query/regex/regex_error.js', { a: { $regex: '[)' } }],
  ['jstests/core/query/regex/regex_error.js', { a: { $regex: 'ab', $options: '\0i' } }],
  ['jstests/core/query/type/type_array.js', { a: { $type: ['string', null] } }],
  ['jstests/core/query/type/type_array.js', { a: { $type: [{}, 'string'] } }],
  ['docs/manual/reference/operator/query/type', { a: { $type: 'text' } }],
  ['docs/manual/reference/operator/query/type', { a: { $type: 0 } }],
  ['docs/manual/reference/operator/query/type', { a: { $type: [] } }],
  ['jstests/core/query/mod/mod.js', { a: { $mod: [0, 1] } }],
  ['jstests/core/query/mod/mod.js', { a: { $mod: [0.001, 1.001] } }],
  ['jstests/core/query/mod/mod.js', { a: { $mod: [10, 1, 1] } }],
  ['jstests/core/query/mod/mod.js', { a: { $mod: [10] } }],
  ['jstests/core/query/mod/mod.js', { a: { $mod: ['a', 0] } }],
  ['docs/manual/reference/operator/query/mod', { a: { $mod: [] } }],
  ['docs/manual/reference/operator/query/mod', { a: { $mod: 4 } }],
  ['jstests/core/query/mod/mod_special_values.js', { a: { $mod: [1e19, 1] } }],
  ['jstests/core/query/mod/mod_special_values.js', { a: { $mod: [1, 1e19] } }],
]

/** Objects that a sort refuses: two arrays beside each other. */
export const refusedSorts: readonly (readonly [JsonObject, Sort])[] = [
  // jstests/core/query/sort/sort_dotted_paths_parallel_arrays.js
  [
    { a: [], b: [] },
    { a: 'asc', b: 'asc' },
  ],
  [
    { a: [], b: [] },
    { id: 'asc', a: 'asc', b: 'asc' },
  ],
  [
    { a: [], b: [] },
    { a: 'asc', id: 'asc', b: 'asc' },
  ],
  [{ a: { b: [1, 2], c: [3, 4] } }, { 'a.b': 'asc', 'a.c': 'asc' }],
  [
    { a: { b: [1, 2] }, c: { d: [3, 4] } },
    { 'a.b': 'asc', 'c.d': 'asc' },
  ],
]
