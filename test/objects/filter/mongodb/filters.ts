// What MongoDB 7 answers: facts of its manual (docs/manual) and of the tests that it is published
// with (jstests/core), each row with its source. Where those ask about types that JSON has not, the
// objects are left out.

import type { SortDirection } from '../../../src/objects/types.js'
import type { JsonObject } from '../../../src/types.js'

type Filter = JsonObject

export interface Facts {
  /** The page or test that says so. */
  readonly source: string
  /** Objects by a name for each. */
  readonly objects: Readonly<Record<string, JsonObject>>
  /** Filters, and the names of the objects that match. */
  readonly answers: readonly (readonly [Filter, string])[]
}

const noArrays: Readonly<Record<string, JsonObject>> = {
  emptyObject: { a: {} },
  null: { a: null },
  number: { a: 4 },
  b: { a: { b: 'hi' } },
  bNull: { a: { b: null } },
  missing: {},
}

const withArrays: Readonly<Record<string, JsonObject>> = {
  ...noArrays,
  doubleArray: { a: [[]] },
  emptyArray: { a: [] },
  allNull: { a: [{ b: null }, { b: null }, {}] },
  noNull: { a: [{ b: 1 }, { b: 3 }, { b: 'string' }] },
  someNull: { a: [{ b: null }, { b: 3 }, { b: null }] },
  someMissing: { a: [{ b: 3 }, {}] },
  nulls: { a: [null, null] },
  values: { a: [1, 'string', 4] },
  valuesAndNull: { a: [1, 'string', null, 4] },
}

function numbered(...objects: readonly JsonObject[]): Record<string, JsonObject> {
  return Object.fromEntries(objects.entries())
}

export const facts: readonly Facts[] = [
  {
    source: 'jstests/core/null_query_semantics.js, no arrays',
    objects: noArrays,
    answers: [
      [{ a: { $eq: null } }, 'null missing'],
      [{ a: { $ne: null } }, 'emptyObject number b bNull'],
      [{ a: { $in: [null, 4] } }, 'null number missing'],
      [{ $or: [{ a: null }, { a: 4 }] }, 'null number missing'],
      [{ a: { $nin: [null, 4] } }, 'emptyObject b bNull'],
      [{ a: { $exists: false } }, 'missing'],
      [{ 'a.b': { $eq: null } }, 'emptyObject null number bNull missing'],
      [{ 'a.b': { $ne: null } }, 'b'],
      [{ 'a.b': { $exists: false } }, 'emptyObject null number missing'],
      [{ a: { $elemMatch: { $eq: null } } }, ''],
      [{ a: { $elemMatch: { $ne: null } } }, ''],
      [{ 'a.b': { $elemMatch: { $eq: null } } }, ''],
      [{ 'a.b': { $elemMatch: { $ne: null } } }, ''],
      [{ a: { $elemMatch: { b: { $eq: null } } } }, ''],
      [{ a: { $elemMatch: { b: { $ne: null } } } }, ''],
    ],
  },
  {
    source: 'jstests/core/null_query_semantics.js, arrays',
    objects: withArrays,
    answers: [
      [{ a: { $eq: null } }, 'null nulls valuesAndNull missing'],
      [
        { a: { $ne: null } },
        'doubleArray emptyArray emptyObject number allNull noNull someNull someMissing b bNull values',
      ],
      [
        { a: { $not: { $gte: null } } },
        'doubleArray emptyArray emptyObject number allNull noNull someNull someMissing b bNull values',
      ],
      [{ a: { $in: [null, 75] } }, 'null missing nulls valuesAndNull'],
      [{ $or: [{ a: null }, { a: 75 }] }, 'null missing nulls valuesAndNull'],
      [
        { a: { $nin: [null, 75] } },
        'emptyObject number b bNull doubleArray emptyArray allNull noNull someNull someMissing values',
      ],
      [
        { a: { $ne: null, $not: { $regex: '^str.*' } } },
        'emptyObject number b bNull doubleArray emptyArray allNull noNull someNull someMissing',
      ],
      [{ a: { $elemMatch: { $eq: null } } }, 'nulls valuesAndNull'],
      [
        { a: { $elemMatch: { $ne: null } } },
        'doubleArray allNull noNull someNull someMissing values valuesAndNull',
      ],
      [
        { 'a.b': { $eq: null } },
        'emptyObject null number bNull missing allNull someNull someMissing',
      ],
      [{ 'a.b': { $ne: null } }, 'b doubleArray emptyArray noNull nulls values valuesAndNull'],
      [
        { 'a.b': { $in: [null, 75] } },
        'emptyObject null number bNull missing allNull someNull someMissing',
      ],
      [
        { $or: [{ 'a.b': null }, { 'a.b': 75 }] },
        'emptyObject null number bNull missing allNull someNull someMissing',
      ],
      [
        { 'a.b': { $nin: [null, 75] } },
        'b doubleArray emptyArray noNull nulls values valuesAndNull',
      ],
      [
        { 'a.b': { $ne: null, $not: { $regex: '^str.*' } } },
        'b doubleArray emptyArray nulls values valuesAndNull',
      ],
      [{ 'a.b': { $elemMatch: { $eq: null } } }, ''],
      [{ 'a.b': { $elemMatch: { $ne: null } } }, ''],
      [{ a: { $elemMatch: { b: { $eq: null } } } }, 'doubleArray allNull someNull someMissing'],
      [{ a: { $elemMatch: { b: { $ne: null } } } }, 'noNull someNull someMissing'],
    ],
  },
  {
    source: 'jstests/core/arrayfind5.js',
    objects: { objects: { a: [{}, { b: 1 }] }, mixed: { a: [5, { b: 1 }] } },
    answers: [
      [{ 'a.b': 1 }, 'objects mixed'],
      [{ a: { $elemMatch: { b: 1 } } }, 'objects mixed'],
      [{ 'a.b': null }, 'objects'],
      [{ a: { $elemMatch: { b: null } } }, 'objects'],
    ],
  },
  {
    source: 'jstests/core/query/elemmatch/elemmatch_value.js',
    objects: numbered(
      { a: 5 },
      { a: [5] },
      { a: [3, 7] },
      { a: [[5]] },
      { a: [[3, 7]] },
      { a: [[[5]]] },
      { a: [[[3, 7]]] },
      { a: { b: 5 } },
      { a: { b: [5] } },
      { a: { b: [3, 7] } },
      { a: [{ b: 5 }] },
      { a: [{ b: 3 }, { b: 7 }] },
      { a: [{ b: [5] }] },
      { a: [{ b: [3, 7] }] },
      { a: [[{ b: 5 }]] },
      { a: [[{ b: 3 }, { b: 7 }]] },
      { a: [[{ b: [5] }]] },
      { a: [[{ b: [3, 7] }]] },
    ),
    answers: [
      [{ a: { $elemMatch: { $lt: 6, $gt: 4 } } }, '1'],
      [{ 'a.b': { $elemMatch: { $lt: 6, $gt: 4 } } }, '8 12'],
      [{ a: { $elemMatch: { $elemMatch: { $lt: 6, $gt: 4 } } } }, '3'],
      [{ a: { $elemMatch: { $type: 'number' } } }, '1 2'],
      [{ a: { $elemMatch: { $type: 'array' } } }, '3 4 5 6 14 15 16 17'],
      [{ a: { $elemMatch: { b: { $lt: 6, $gt: 4 } } } }, '10 12 13'],
      [{ a: { $elemMatch: { b: { $elemMatch: { $lt: 6, $gt: 4 } } } } }, '12'],
      [{ a: { $elemMatch: { $elemMatch: { b: { $lt: 6, $gt: 4 } } } } }, '14 16 17'],
    ],
  },
  {
    source: 'jstests/core/query/elemmatch/elemmatch_object.js',
    objects: numbered(
      {},
      { a: 1 },
      { a: 'foo' },
      { a: [] },
      { a: {} },
      { a: [1] },
      { a: ['foo'] },
      { a: [[]] },
      { a: [{}] },
      { a: [[1]] },
      { a: [1, []] },
      { a: [1, {}] },
      { a: [{ b: 1 }] },
    ),
    answers: [
      [{ a: { $elemMatch: {} } }, '7 8 9 10 11 12'],
      [{ a: { $elemMatch: { $or: [{}, {}] } } }, '7 8 9 10 11 12'],
    ],
  },
  {
    source: 'jstests/core/query/elemmatch/elemmatch_object.js, fields of one element',
    objects: numbered(
      { a: { b: 1, c: 4 } },
      { a: [{ b: 1, c: 4 }] },
      { a: [{ b: 2, c: 3 }] },
      {
        a: [
          { b: 1, c: 2 },
          { b: 3, c: 4 },
        ],
      },
      {
        a: [
          { b: 1, c: 2 },
          { b: 3, c: 4 },
          { b: 1, c: 4 },
        ],
      },
      { a: [{ b: [], c: [] }] },
      { a: [{ b: [12, 2], c: [13, 3] }] },
      { a: [{ b: [11, 1], c: [14, 4] }] },
      { a: [{ b: { w: 1, x: 2 }, c: { y: 3, z: 4 } }] },
    ),
    answers: [
      [{ a: { $elemMatch: { b: 2 } } }, '2 6'],
      [{ a: { $elemMatch: { b: 1 } } }, '1 3 4 7'],
      [{ a: { $elemMatch: { b: 1, c: 4 } } }, '1 4 7'],
    ],
  },
  {
    source: 'jstests/core/query/elemmatch/elemmatch_ne.js',
    objects: numbered(
      { arr: [{ a: 1 }, { a: 2 }], c: 4, d: 5, a: 1 },
      { arr: [{ a: 99 }], c: 99, d: 99 },
    ),
    answers: [
      [
        {
          arr: { $elemMatch: { a: { $ne: 1 } } },
          $or: [
            { c: 4, d: 5 },
            { c: 6, d: 7 },
          ],
        },
        '0',
      ],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfind1.js',
    objects: numbered(
      { a: [{ x: 1 }] },
      { a: [{ x: 1, y: 2, z: 1 }] },
      { a: [{ x: 1, y: 1, z: 3 }] },
      { a: [{ x: 2 }] },
      { a: [{ x: 3 }] },
      { a: [{ x: 4 }] },
    ),
    answers: [
      [{ 'a.y': 2 }, '1'],
      [{ a: { x: 1 } }, '0'],
      [{ a: { $elemMatch: { x: 1 } } }, '0 1 2'],
      [{ a: { $elemMatch: { x: { $gt: 2 } } } }, '4 5'],
      [{ 'a.x': 1 }, '0 1 2'],
      [{ 'a.x': { $gt: 1 } }, '3 4 5'],
      [{ a: { $ne: 2, $elemMatch: { x: { $gt: 2 } } } }, '4 5'],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfind2.js',
    objects: numbered(
      { a: [{ x: 1 }, { x: 5 }] },
      { a: [{ x: 3 }, { x: 5 }] },
      { a: [{ x: 3 }, { x: 6 }] },
    ),
    answers: [
      [{ a: { $elemMatch: { x: { $gt: 4 } } } }, '0 1 2'],
      [{ a: { $elemMatch: { x: { $lt: 2 } } } }, '0'],
      [
        { a: { $all: [{ $elemMatch: { x: { $lt: 4 } } }, { $elemMatch: { x: { $gt: 5 } } }] } },
        '2',
      ],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfind3.js',
    objects: numbered({ a: [1, 2] }, { a: [1, 2, 6] }, { a: [1, 4, 6] }),
    answers: [
      [{ a: { $gte: 3, $lte: 5 } }, '1 2'],
      [{ a: { $elemMatch: { $gte: 3, $lte: 5 } } }, '2'],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfind4.js',
    objects: numbered({ a: [] }, { a: [[]] }),
    answers: [
      [{ a: [] }, '0 1'],
      [{ a: { $in: [[]] } }, '0 1'],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfind6.js',
    objects: numbered({ a: [{ b: 1, c: 2 }] }),
    answers: [
      [{ a: { $elemMatch: { b: 1, c: 2 } } }, '0'],
      [{ a: { $not: { $elemMatch: { b: 1, c: 2 } } } }, ''],
      [{ a: { $not: { $elemMatch: { b: 1, c: 3 } } } }, '0'],
      [{ a: { $not: { $elemMatch: { b: { $ne: 1 }, c: 3 } } } }, '0'],
      [{ a: { $not: { $elemMatch: { b: { $ne: 2 }, c: 3 } } } }, '0'],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfind7.js',
    objects: numbered(
      { a: [{ b: [{ c: 1, d: 2 }] }] },
      { a: [{ b: [{ c: 2 }] }] },
      { a: [{ b: [{ c: [1] }] }] },
      { a: { b: { c: [10, 11] } } },
    ),
    answers: [
      [{ a: { $elemMatch: { b: { $elemMatch: { c: 1, d: 2 } } } } }, '0'],
      [{ a: { $elemMatch: { b: { $elemMatch: { c: { $gte: 1, $in: [2] } } } } } }, '1'],
      [{ a: { $elemMatch: { 'b.c': { $elemMatch: { $gte: 1, $lte: 1 } } } } }, '2'],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfind8.js',
    objects: numbered(
      { a: [5] },
      { a: [3, 7] },
      { a: [6] },
      { a: [4, 6] },
      { a: [4, 7] },
      { a: ['a'] },
      { a: [[5]] },
      { a: [-1, -2] },
      { a: { b: [-1, -2] } },
    ),
    answers: [
      [{ a: { $elemMatch: { $gt: 4, $lt: 6 } } }, '0'],
      [{ a: { $gt: 4, $lt: 6 } }, '0 1 3 4'],
      [{ a: { $elemMatch: { $gt: 4, $not: { $gte: 6 } } } }, '0'],
      [{ a: { $elemMatch: { $gt: 4, $not: { $ne: 6 } } } }, '2 3'],
      [{ a: { $elemMatch: { $in: [4, 6], $gt: 5 } } }, '2 3'],
      [{ a: { $in: [4, 6], $gt: 5 } }, '2 3 4'],
      [{ a: { $elemMatch: { $regex: '^a' } } }, '5'],
      [{ $and: [{ a: { $elemMatch: { $gt: 4 } } }, { a: { $elemMatch: { $lt: 6 } } }] }, '0 1 3 4'],
      [{ a: { $elemMatch: { $in: [5] } } }, '0'],
      [{ a: { $elemMatch: { $elemMatch: { $in: [5] } } } }, '6'],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfind8.js, fields',
    objects: numbered(
      { a: [[{ b: 1 }]] },
      { a: [{ b: 1 }] },
      { a: [[{ b: [0, 2] }]] },
      { a: [{ b: [0, 2] }] },
      { a: [{ b: [1] }] },
      { a: [{ b: [2] }] },
      { a: [{ b: [3] }] },
    ),
    answers: [
      [{ a: { $elemMatch: { $elemMatch: { b: { $gte: 1, $lte: 1 } } } } }, '0 2'],
      [{ a: { $elemMatch: { b: { $gte: 1, $lte: 1 } } } }, '1 3 4'],
      [{ a: { $elemMatch: { b: { $elemMatch: { $gte: 1, $lte: 1 } } } } }, '4'],
      [
        {
          $and: [
            { a: { $elemMatch: { b: { $elemMatch: { $gte: 1, $lte: 4 } } } } },
            { 'a.b': { $in: [2, 5] } },
          ],
        },
        '3 5',
      ],
      [{ a: { $elemMatch: { b: { $elemMatch: { $in: [1, 2] }, $in: [2, 3] } } } }, '3 5'],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfind9.js',
    objects: numbered({ a: [1] }, { a: [{}] }, { a: [[]] }, { a: [['x']] }, { a: [{ b: [0, 2] }] }),
    answers: [
      [{ a: { $elemMatch: { $not: { $ne: 1 } } } }, '0'],
      [{ a: { $elemMatch: { $in: [[]] } } }, '2'],
      [{ a: { $elemMatch: { 0: 'x' } } }, '3'],
      [{ a: { $elemMatch: { b: { $gte: 1, $lte: 1 } } } }, '4'],
      [{ a: { $elemMatch: { $gte: {} } } }, '1 4'],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfind10.js, elements',
    objects: numbered(
      { a: 'foo' },
      { a: ['foo'] },
      { a: [['foo']] },
      { a: [[['foo']]] },
      { a: [123, 'foo'] },
      { a: ['bar', 'baz', 123] },
    ),
    answers: [[{ a: 'foo' }, '0 1 4']],
  },
  {
    source: 'jstests/core/query/array/arrayfind10.js, objects',
    objects: numbered(
      { a: [{}, { b: 'foo' }] },
      { a: [{ b: 'foo' }, {}] },
      { a: [{ b: 123 }, { b: 'foo' }] },
      { a: [{ b: 'bar' }, { b: 'baz' }, { b: 123 }] },
    ),
    answers: [[{ 'a.b': 'foo' }, '0 1 2']],
  },
  {
    source: 'jstests/core/query/array/arrayfind10.js, deep',
    objects: numbered({ a: [{ b: [{ c: [5, 7] }] }] }, { a: [{ b: [] }, { b: [{ c: [5, 7] }] }] }),
    answers: [
      [{ 'a.b.c': 5 }, '0 1'],
      [{ 'a.b.c': { $in: [5] } }, '0 1'],
      [{ 'a.b.c': { $size: 2 } }, '0 1'],
      [{ 'a.b.c': { $elemMatch: { $eq: 5 } } }, '0 1'],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfind10.js, arrays of arrays',
    objects: numbered(
      { a: 1 },
      { a: 2 },
      { a: 3 },
      { a: [1] },
      { a: [1, 2] },
      { a: [2] },
      { a: [3] },
      { a: [3, 1] },
      { a: [3, 2] },
      { a: [3, 2, 1] },
      { a: [[1]] },
      { a: [[2]] },
      { a: [[3]] },
      { a: [[[1]]] },
      { a: [[[2]]] },
      { a: [[[3]]] },
      { a: [1, [[2]]] },
      { a: [3, [1]] },
      { a: [3, [[2]]] },
      { a: [3, [[2]], 1] },
      { a: [[1], 2] },
      { a: [[1], [2]] },
      { a: [[3], 1] },
      { a: [[3], 2] },
      { a: [[3], 2, 1] },
      { a: [[3], [1]] },
      { a: [[3], [[2]]] },
      { a: [[3], [[2]], 1] },
    ),
    answers: [
      [{ a: { $eq: [2] } }, '5 11 21'],
      [{ a: { $lt: [2] } }, '3 4 10 16 17 20 21 25'],
      [{ a: { $gt: [2] } }, '6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27'],
      [{ a: { $eq: [1, 2] } }, '4'],
      [{ a: { $lt: [1, 2] } }, '3 10 17 20 21 25'],
      [{ a: { $gt: [1, 2] } }, '5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27'],
    ],
  },
  {
    source: 'jstests/core/query/array/arrayfinda.js',
    objects: numbered({ a: [{ b: 1 }] }, { a: { b: 1 } }),
    answers: [
      [{ a: { $elemMatch: { b: { $gte: 1 } } } }, '0'],
      [{ a: { $elemMatch: { b: 1 } } }, '0'],
    ],
  },
  {
    source: 'jstests/core/query/array/array_match1.js',
    objects: numbered({ a: [5, 5] }, { a: [6, 6] }, { a: { b: [5, 5] } }, { a: { b: [6, 6] } }),
    answers: [
      [{ a: [5, 5] }, '0'],
      [{ a: [6, 6] }, '1'],
      [{ 'a.b': [5, 5] }, '2'],
      [{ 'a.b': [6, 6] }, '3'],
    ],
  },
  {
    source: 'jstests/core/query/array/array_match2.js',
    objects: numbered(
      { a: [{ 1: 4 }, 5] },
      { a: [{ 1: { foo: 4 } }, { foo: 5 }] },
      { a: [{ 1: { foo: 4 } }, {}] },
    ),
    answers: [
      [{ 'a.1': 4 }, '0'],
      [{ 'a.1': 5 }, '0'],
      [{ 'a.1.foo': 4 }, '1 2'],
      [{ 'a.1.foo': 5 }, '1'],
      [{ 'a.1': { $exists: true } }, '0 1 2'],
      [{ 'a.1.foo': { $exists: true } }, '1 2'],
    ],
  },
  {
    source: 'jstests/core/query/array/array_match3.js',
    objects: numbered({ a: { 0: 5 } }, { a: [5] }),
    answers: [[{ 'a.0': 5 }, '0 1']],
  },
  {
    source: 'jstests/core/query/array/array4.js',
    objects: numbered({ a: ['1', '2', '3'] }, { a: ['2', '1'] }, { a: { 0: '1' } }),
    answers: [[{ 'a.0': { $regex: '1' } }, '0 2']],
  },
  {
    source: 'src/mongo/db/matcher/path_test.cpp, ArrayIndex and NestedPartialMatch',
    objects: numbered(
      { a: [5, 7, 3] },
      { a: [5, [2, 4], 3] },
      { a: [5, { 1: 4 }, 3] },
      { a: [5, { b: 4 }, 3] },
      { a: [5, [{ b: 4 }], 3] },
      { a: [4] },
      { a: 4 },
    ),
    answers: [
      [{ 'a.1': 7 }, '0'],
      [{ 'a.1': 2 }, ''],
      [{ 'a.1': [2, 4] }, '1'],
      [{ 'a.1': 4 }, '2'],
      [{ 'a.1': { 1: 4 } }, '2'],
      [{ 'a.1.b': 4 }, '3 4'],
      [{ 'a.1.b': null }, '2 3 6'],
      [{ 'a.b': null }, '2 6'],
      [{ 'a.1': null }, '3 6'],
    ],
  },
  {
    source: 'jstests/core/query/all/all.js',
    objects: numbered(
      { a: [1, 2, 3] },
      { a: [1, 2, 4] },
      { a: [1, 8, 5] },
      { a: [1, 8, 6] },
      { a: [1, 9, 7] },
      { a: [] },
      {},
      { a: [2, 2] },
      { a: [[2]] },
      { a: [{ b: [10, 11] }, 11] },
      { a: { b: [20, 30] } },
    ),
    answers: [
      [{ a: { $all: [1] } }, '0 1 2 3 4'],
      [{ a: { $all: [1, 2] } }, '0 1'],
      [{ a: { $all: [1, 8] } }, '2 3'],
      [{ a: { $all: [1, 3] } }, '0'],
      [{ a: { $all: [2, 3] } }, '0'],
      [{ a: { $all: [2, 2] } }, '0 1 7'],
      [{ a: { $all: [2] } }, '0 1 7'],
      [{ 'a.b': { $all: [10] } }, '9'],
      [{ 'a.b': { $all: [20] } }, '10'],
      [{ a: { $all: [11] } }, '9'],
      [{ 'a.b': { $all: [20, 30] } }, '10'],
      [{ a: { $all: [19] } }, ''],
      [{ a: { $all: [] } }, ''],
    ],
  },
  {
    source: 'jstests/core/query/all/all2.js',
    objects: numbered(
      { a: [{ x: 1 }, { x: 2 }] },
      { a: [{ x: 2 }, { x: 3 }] },
      { a: [{ x: 3 }, { x: 4 }] },
    ),
    answers: [
      [{ 'a.x': { $in: [1] } }, '0'],
      [{ 'a.x': { $in: [1, 2] } }, '0 1'],
      [{ 'a.x': { $in: [1, 3] } }, '0 1 2'],
      [{ 'a.x': { $all: [1, 2] } }, '0'],
      [{ 'a.x': { $all: [2, 3] } }, '1'],
      [{ 'a.x': { $all: [1, 3] } }, ''],
    ],
  },
  {
    source: 'jstests/core/query/all/all3.js',
    objects: numbered({}, { foo: 1 }, { foo: [0, 1] }, { foo: [] }),
    answers: [
      [{ foo: { $in: [null] } }, '0'],
      [{ foo: { $all: [null] } }, '0'],
      [{ foo: { $not: { $all: [null] } } }, '1 2 3'],
      [{ foo: { $not: { $in: [null] } } }, '1 2 3'],
      [{ foo: { $in: [[0, 1]] } }, '2'],
      [{ foo: { $all: [[0, 1]] } }, '2'],
      [{ foo: { $in: [[]] } }, '3'],
      [{ foo: { $all: [[]] } }, '3'],
    ],
  },
  {
    source: 'jstests/core/query/all/all4.js and all5.js',
    objects: numbered(
      {},
      { a: 1 },
      { a: [{ b: 1 }] },
      { a: [] },
      { a: [1] },
      { a: [{}] },
      { a: [{ c: 1 }] },
      { a: [{ b: null }] },
    ),
    answers: [
      [{ a: { $all: [1] } }, '1 4'],
      [{ a: { $all: [{ $elemMatch: { b: 1 } }] } }, '2'],
      [{ a: { $all: [{ $elemMatch: { b: null } }] } }, '5 6 7'],
      [{ a: { $elemMatch: { b: null } } }, '5 6 7'],
    ],
  },
  {
    source: 'jstests/core/query/exists/exists.js',
    objects: numbered(
      {},
      { a: 1 },
      { a: { b: 1 } },
      { a: { b: { c: 1 } } },
      { a: { b: { c: { d: null } } } },
    ),
    answers: [
      [{ a: null }, '0'],
      [{ 'a.b': null }, '0 1'],
      [{ 'a.b.c': null }, '0 1 2'],
      [{ 'a.b.c.d': null }, '0 1 2 3 4'],
      [{ a: { $ne: null } }, '1 2 3 4'],
      [{ 'a.b.c': { $ne: null } }, '3 4'],
      [{ 'a.b.c.d': { $ne: null } }, ''],
      [{ a: { $exists: true } }, '1 2 3 4'],
      [{ 'a.b.c': { $exists: true } }, '3 4'],
      [{ 'a.b.c.d': { $exists: true } }, '4'],
      [{ 'a.b.c.d': { $exists: false } }, '0 1 2 3'],
    ],
  },
  {
    source: 'jstests/core/query/exists/exists5.js and exists9.js',
    objects: numbered(
      { a: 1 },
      { a: { b: 1 } },
      { a: [1] },
      { a: [{ b: 1 }] },
      { a: {} },
      {},
      { a: [] },
      { a: { 0: 1 } },
    ),
    answers: [
      [{ 'a.b': { $exists: false } }, '0 2 4 5 6 7'],
      [{ 'a.b': { $not: { $exists: true } } }, '0 2 4 5 6 7'],
      [{ 'a.b': { $exists: true } }, '1 3'],
      [{ 'a.b': { $not: { $exists: false } } }, '1 3'],
      [{ a: { $exists: true } }, '0 1 2 3 4 6 7'],
      [{ 'a.0': { $exists: true } }, '2 3 7'],
      [{ 'a.0': { $exists: false } }, '0 1 4 5 6'],
    ],
  },
  {
    source: 'jstests/core/query/exists/exists7.js',
    objects: numbered({}, { a: 1 }, { a: 2 }, { a: 3, b: 3 }, { a: 4, b: 4 }),
    answers: [
      [{ b: { $exists: 1 } }, '3 4'],
      [{ b: { $exists: 0 } }, '0 1 2'],
    ],
  },
  {
    source: 'jstests/core/query/not/not1.js',
    objects: numbered({ a: 1 }, { a: 2 }, {}),
    answers: [
      [{ a: 1 }, '0'],
      [{ a: { $ne: 1 } }, '1 2'],
      [{ a: { $in: [1] } }, '0'],
      [{ a: { $nin: [1] } }, '1 2'],
    ],
  },
  {
    source: 'jstests/core/query/not/not2.js, strings',
    objects: numbered({ i: 'a' }, { i: 'b' }),
    answers: [
      [{ i: { $not: { $not: { $gt: 'a' } } } }, '1'],
      [{ i: { $gt: 'a' } }, '1'],
      [{ i: { $not: { $gt: 'a' } } }, '0'],
      [{ i: { $not: { $ne: 'a' } } }, '0'],
      [{ i: { $not: { $gte: 'b' } } }, '0'],
      [{ i: { $not: { $exists: true } } }, ''],
      [{ j: { $not: { $exists: false } } }, ''],
      [{ j: { $not: { $exists: true } } }, '0 1'],
      [{ i: { $not: { $in: ['a'] } } }, '1'],
      [{ i: { $not: { $in: ['g'] } } }, '0 1'],
      [{ i: { $not: { $nin: ['a'] } } }, '0'],
      [{ i: { $not: { $regex: 'a' } } }, '1'],
      [{ i: { $not: { $regex: 'A', $options: 'i' } } }, '1'],
      [{ i: { $not: { $regex: '[ab]' } } }, ''],
      [{ i: { $not: { $regex: '^foo' } } }, '0 1'],
      [{ i: { $not: { $regex: 'a' }, $regex: 'a' } }, ''],
      [{ i: { $type: 2 } }, '0 1'],
      [{ i: { $not: { $type: 1 } } }, '0 1'],
      [{ i: { $not: { $type: 2 } } }, ''],
    ],
  },
  {
    source: 'jstests/core/query/not/not2.js, numbers and arrays',
    objects: numbered({ i: 1 }, { i: ['a', 'b'] }, { i: [{ j: 'a' }] }, { i: [{ j: 'b' }] }),
    answers: [
      [{ i: { $not: { $mod: [5, 1] } } }, '1 2 3'],
      [{ i: { $mod: [5, 2] } }, ''],
      [{ i: { $not: { $mod: [5, 2] } } }, '0 1 2 3'],
      [{ i: { $not: { $size: 2 } } }, '0 2 3'],
      [{ i: { $not: { $gt: 'a' } } }, '0 2 3'],
      [{ i: { $not: { $all: ['a', 'b'] } } }, '0 2 3'],
      [{ i: { $not: { $all: ['c'] } } }, '0 1 2 3'],
      [{ i: { $not: { $elemMatch: { j: 'a' } } } }, '0 1 3'],
    ],
  },
  {
    source: 'jstests/core/query/ne/ne_array.js',
    objects: numbered({ a: [1] }, { a: [1, 3] }),
    answers: [
      [{ a: { $ne: [1, 3] } }, '0'],
      [{ a: { $ne: [1] } }, '1'],
      [{ a: { $not: { $in: [[1]] } } }, '1'],
      [{ a: { $not: { $in: [[1], [1, 3]] } } }, ''],
      [{ a: { $not: { $in: ['scalar value', [1, 3]] } } }, '0'],
    ],
  },
  {
    source: 'jstests/core/query/ne/ne_array.js, $elemMatch',
    objects: numbered({ a: [[123]] }, { a: [4, 5, [123]] }, { a: [7, 8] }),
    answers: [
      [{ a: { $elemMatch: { $not: { $eq: [123] } } } }, '1 2'],
      [{ a: { $elemMatch: { $not: { $in: [[123]] } } } }, '1 2'],
      [{ a: { $not: { $elemMatch: { $eq: [123] } } } }, '2'],
      [{ a: { $not: { $elemMatch: { $in: [[123]] } } } }, '2'],
    ],
  },
  {
    source: 'jstests/core/query/ne/ne_array.js, $elemMatch of fields',
    objects: numbered(
      { a: [[123]] },
      { a: [{ b: 123 }] },
      { a: [{ b: [4, [123]] }] },
      { a: [{ b: [[123]] }] },
    ),
    answers: [
      [{ a: { $elemMatch: { b: { $ne: [123] } } } }, '0 1'],
      [{ a: { $elemMatch: { b: { $not: { $in: [[123]] } } } } }, '0 1'],
      [{ a: { $not: { $elemMatch: { b: [123] } } } }, '0 1'],
    ],
  },
  {
    source: 'jstests/core/query/type/type1.js and type2.js',
    objects: numbered({ x: 1.1 }, { x: '3' }, { x: 'foo' }, { x: null }, {}),
    answers: [
      [{ x: { $type: 1 } }, '0'],
      [{ x: { $type: 2 } }, '1 2'],
      [{ x: { $type: 3 } }, ''],
      [{ x: { $regex: 'f', $type: 2 } }, '2'],
      [{ x: { $type: 10 } }, '3'],
      [{ x: null }, '3 4'],
    ],
  },
  {
    source: 'jstests/core/query/type/type_array.js',
    objects: numbered(
      { a: [1, 2, 3] },
      { a: [1, 'foo', 3] },
      { a: [] },
      { a: [[]] },
      { a: [[[]]] },
      { a: 1 },
      { a: 'foo' },
      {},
    ),
    answers: [
      [{ a: { $type: 'number' } }, '0 1 5'],
      [{ a: { $type: 'string' } }, '1 6'],
      [{ a: { $type: 'array' } }, '0 1 2 3 4'],
      [{ 'a.0': { $type: 'array' } }, '3 4'],
      [{ 'a.0.0': { $type: 'array' } }, '4'],
      [{ a: { $type: ['number', 2] } }, '0 1 5 6'],
      [{ a: { $type: ['string', 4, 'array', 'string'] } }, '0 1 2 3 4 6'],
    ],
  },
  {
    source: 'jstests/core/query/type/type_operator_on_missing_values.js',
    objects: numbered({}, { b: 123 }),
    answers: [
      [{ a: { $type: 'double' } }, ''],
      [{ a: { $type: 'string' } }, ''],
      [{ a: { $type: 'object' } }, ''],
      [{ a: { $type: 'array' } }, ''],
      [{ a: { $type: 'bool' } }, ''],
      [{ a: { $type: 'null' } }, ''],
      [{ a: { $type: 'int' } }, ''],
      [{ a: { $type: 'long' } }, ''],
      [{ a: { $type: 'decimal' } }, ''],
      [{ a: { $type: 'minKey' } }, ''],
      [{ a: { $not: { $type: 'date' } } }, '0 1'],
      [{ a: { $not: { $type: 'objectId' } } }, '0 1'],
      [{ a: { $not: { $type: 'regex' } } }, '0 1'],
      [{ a: { $not: { $type: 'null' } } }, '0 1'],
    ],
  },
  {
    source: 'jstests/core/query/type/null_undefined.js',
    objects: numbered({ a: 1 }, { b: 1 }, { a: null }, { a: [1, 2, 3] }, { a: [1, null] }),
    answers: [
      [{ a: { $type: ['null', 'undefined'] } }, '2 4'],
      [{ $or: [{ a: { $eq: null } }, { a: { $type: 'undefined' } }] }, '1 2 4'],
      [{ a: { $type: 'undefined' } }, ''],
    ],
  },
  {
    source: 'jstests/core/query/mod/mod.js, large numbers',
    objects: numbered(
      { a: 4000000000 },
      { a: 15000000000 },
      { a: -4000000000 },
      { a: -15000000000 },
      { a: 4000000000.12345 },
      { a: 15000000000.12345 },
      { a: -4000000000.12345 },
      { a: -15000000000.12345 },
    ),
    answers: [
      [{ a: { $mod: [4000000000, 0] } }, '0 2 4 6'],
      [{ a: { $mod: [-4000000000, 0] } }, '0 2 4 6'],
      [{ a: { $mod: [10000000000, 5000000000] } }, '1 5'],
      [{ a: { $mod: [10000000000, -5000000000] } }, '3 7'],
      [{ a: { $mod: [-10000000000, 5000000000] } }, '1 5'],
      [{ a: { $mod: [-10000000000, -5000000000] } }, '3 7'],
    ],
  },
  {
    source: 'jstests/core/query/mod/mod.js',
    objects: numbered(
      { str: 'abc123', a: 0 },
      { str: 'xyz123', a: 5 },
      { str: 'ijk123', a: 12 },
      { a: [0, 7] },
      { a: [1, 7] },
      { a: [-5] },
      { arr: [1, [2, 3], [[4]]] },
      { arr: [{ b: [1, 2, 3] }, { b: [5] }] },
      { arr: [{ b: [-1] }, { b: [5] }] },
      { arr: 'string' },
      { a: [4.2] },
    ),
    answers: [
      [{ a: { $mod: [-10, -5] } }, '5'],
      [{ a: { $mod: [4, -1] } }, '5'],
      [{ a: { $mod: [5, 0] } }, '0 1 3 5'],
      [{ a: { $mod: [12, 0] } }, '0 2 3'],
      [{ a: { $mod: [12, 1] } }, '4'],
      [{ arr: { $mod: [1, 0] } }, '6'],
      [{ arr: { $mod: [4, 0] } }, ''],
      [{ 'arr.b': { $mod: [3, 0] } }, '7'],
      [{ 'arr.b': { $mod: [5, 0] } }, '7 8'],
      [{ 'arr.b.c': { $mod: [5, 0] } }, ''],
      [{ a: { $mod: [5.001, 2.1] } }, '2 3 4'],
      [{ str: { $mod: [10, 1] } }, ''],
      [{ noField: { $mod: [10, 1] } }, ''],
      [{ a: { $mod: [4, 0] } }, '0 2 3 10'],
    ],
  },
  {
    source: 'jstests/core/query/mod/mod_special_values.js',
    objects: numbered(
      { attribute: -1e19 },
      { attribute: 14.5 },
      { attribute: 14.50001 },
      { attribute: 15.01 },
      { attribute: 24 },
    ),
    answers: [
      [{ attribute: { $mod: [10, 4] } }, '1 2 4'],
      [{ attribute: { $mod: [1, 0] } }, '1 2 3 4'],
    ],
  },
  {
    source: 'jstests/core/query/regex/regex_options.js',
    objects: numbered({ a: 'foo' }, { a: 'hello_test' }),
    answers: [
      [{ a: { $regex: 'O', $options: 'i' } }, '0 1'],
      [{ a: { $regex: '^hello.*' } }, '1'],
      [{ a: { $regex: '^hello.*', $options: 'u' } }, '1'],
    ],
  },
  {
    source: 'docs/manual/reference/operator/query/regex, the products of its examples',
    objects: numbered(
      { sku: 'abc123', description: 'Single line description.' },
      { sku: 'abc789', description: 'First line\nSecond line' },
      { sku: 'xyz456', description: 'Many spaces before     line' },
      { sku: 'xyz789', description: 'Multiple\nline description' },
      { sku: 'Abc789', description: 'SKU starts with A' },
    ),
    answers: [
      [{ sku: { $regex: '789$' } }, '1 3 4'],
      [{ sku: { $regex: '^ABC', $options: 'i' } }, '0 1 4'],
      [{ description: { $regex: '^S', $options: 'm' } }, '0 1 4'],
      [{ description: { $regex: 'm.*line', $options: 'si' } }, '2 3'],
      [{ description: { $regex: 'm.*line', $options: 'i' } }, '2'],
      [{ sku: { $regex: 'abc #category code\n123 #item number', $options: 'x' } }, '0'],
    ],
  },
]

export type Sort = Readonly<Record<string, SortDirection>>

export interface SortFacts {
  readonly source: string
  readonly objects: readonly JsonObject[]
  /** Sorts, and the ids in their order. */
  readonly answers: readonly (readonly [Sort, string])[]
}

export const sortFacts: readonly SortFacts[] = [
  {
    source: 'jstests/core/query/sort/sort_dotted_paths.js, values',
    objects: [
      { id: 1, a: 1 },
      { id: 3, a: null },
      { id: 4, a: {} },
      { id: 5, a: [] },
      { id: 6, a: [1] },
      { id: 7, a: [[1]] },
      { id: 8 },
    ],
    answers: [
      [{ a: 'asc', id: 'asc' }, '5 3 8 1 6 4 7'],
      [{ a: 'desc', id: 'asc' }, '7 4 1 6 3 8 5'],
      [{ 'a.0': 'asc', id: 'asc' }, '1 3 4 5 8 6 7'],
      [{ 'a.0': 'desc', id: 'asc' }, '7 6 1 3 4 5 8'],
    ],
  },
  {
    source: 'jstests/core/query/sort/sort_dotted_paths.js, two fields',
    objects: [
      { id: 1, a: 1, b: [2] },
      { id: 2, a: 2, b: [] },
      { id: 3, a: [], b: 4 },
      { id: 4, a: [1], b: 4 },
      { id: 5, a: [2, 3], b: 2 },
      { id: 6, a: 2, b: [3, 5] },
      { id: 7, a: 1, b: [1, 3] },
      { id: 8, a: [1, 2], b: 3 },
      { id: 9, a: 2, b: 3 },
    ],
    answers: [
      [{ a: 'asc', b: 'asc', id: 'asc' }, '3 7 1 8 4 2 5 6 9'],
      [{ a: 'asc', b: 'desc', id: 'asc' }, '3 4 7 8 1 6 9 5 2'],
      [{ a: 'desc', b: 'asc', id: 'asc' }, '5 2 6 8 9 7 1 4 3'],
      [{ a: 'desc', b: 'desc', id: 'asc' }, '5 6 8 9 2 4 7 1 3'],
    ],
  },
  {
    source: 'jstests/core/query/sort/sort_dotted_paths.js, two parts',
    objects: [
      { id: 1, a: { b: 2 } },
      { id: 2, a: { b: [] } },
      { id: 3, a: { b: [2, 3] } },
      { id: 4, a: { c: 1 } },
      { id: 5, a: [] },
      { id: 6, a: [{ b: [5] }] },
      { id: 7, a: [{ b: [4, 5] }, { b: 7 }] },
      { id: 8, a: [{ b: [1, 3] }, { b: [2, 5] }] },
      { id: 9, a: [{ b: [] }, { b: [1, 3] }] },
    ],
    answers: [
      [{ 'a.b': 'asc', id: 'asc' }, '2 9 4 5 8 1 3 7 6'],
      [{ 'a.b': 'asc', id: 'desc' }, '9 2 5 4 8 3 1 7 6'],
      [{ 'a.b': 'desc', id: 'asc' }, '7 6 8 3 9 1 4 5 2'],
      [{ 'a.b': 'desc', id: 'desc' }, '7 8 6 9 3 1 5 4 2'],
    ],
  },
  {
    source: 'jstests/core/query/sort/sort_dotted_paths.js, one array',
    objects: [
      {
        id: 1,
        a: [
          { b: 4, c: 1 },
          { b: 1, c: 2 },
        ],
      },
      {
        id: 2,
        a: [
          { b: 2, c: 1 },
          { b: 4, c: 2 },
        ],
      },
      {
        id: 3,
        a: [
          { b: 6, c: 1 },
          { b: 9, c: 2 },
        ],
      },
      {
        id: 4,
        a: [
          { b: 4, c: 1 },
          { b: 5, c: 3 },
        ],
      },
      {
        id: 5,
        a: [
          { b: 2, c: 1 },
          { b: 7, c: 3 },
        ],
      },
      {
        id: 6,
        a: [
          { b: 5, c: 1 },
          { b: 3, c: 3 },
        ],
      },
      {
        id: 7,
        a: [
          { b: 7, c: 2 },
          { b: 2, c: 3 },
        ],
      },
      {
        id: 8,
        a: [
          { b: 3, c: 2 },
          { b: 8, c: 3 },
        ],
      },
      {
        id: 9,
        a: [
          { b: 8, c: 2 },
          { b: 6, c: 3 },
        ],
      },
    ],
    answers: [
      [{ 'a.c': 'asc', 'a.b': 'asc', id: 'asc' }, '2 5 1 4 6 3 8 7 9'],
      [{ 'a.c': 'asc', 'a.b': 'desc', id: 'asc' }, '3 6 1 4 2 5 9 7 8'],
      [{ 'a.c': 'desc', 'a.b': 'asc', id: 'asc' }, '7 6 4 9 5 8 1 2 3'],
      [{ 'a.c': 'desc', 'a.b': 'desc', id: 'asc' }, '8 5 9 4 6 7 3 2 1'],
      [{ 'a.c': 'asc', a: 'asc', id: 'asc' }, '2 5 1 4 6 3 8 7 9'],
      [{ 'a.c': 'asc', a: 'desc', id: 'asc' }, '3 6 1 4 2 5 9 7 8'],
      [{ 'a.c': 'desc', a: 'asc', id: 'asc' }, '7 6 4 9 5 8 1 2 3'],
      [{ 'a.c': 'desc', a: 'desc', id: 'asc' }, '8 5 9 4 6 7 3 2 1'],
    ],
  },
  {
    source: 'jstests/core/query/sort/sort_dotted_paths.js, arrays in one array',
    objects: [
      {
        id: 1,
        a: [
          { b: [4, 1], c: 1 },
          { b: [1, 5], c: 2 },
        ],
      },
      {
        id: 2,
        a: [
          { b: 2, c: [1, 3] },
          { b: 4, c: [2, 4] },
        ],
      },
      {
        id: 3,
        a: [
          { b: [6, 4], c: 1 },
          { b: [9, 7], c: 2 },
        ],
      },
      {
        id: 4,
        a: [
          { b: 4, c: [1, 2] },
          { b: 5, c: [3, 2] },
        ],
      },
      {
        id: 5,
        a: [
          { b: [2, 3], c: 1 },
          { b: [7, 6], c: 3 },
        ],
      },
      {
        id: 6,
        a: [
          { b: 5, c: [] },
          { b: 3, c: 3 },
        ],
      },
      {
        id: 7,
        a: [
          { b: [], c: 2 },
          { b: 2, c: 3 },
        ],
      },
      {
        id: 8,
        a: [
          { b: 3, c: [2] },
          { b: 8, c: [3] },
        ],
      },
      {
        id: 9,
        a: [
          { b: [8], c: 2 },
          { b: [6], c: 3 },
        ],
      },
    ],
    answers: [
      [{ 'a.c': 'asc', 'a.b': 'asc', id: 'asc' }, '6 1 2 5 3 4 7 8 9'],
      [{ 'a.c': 'asc', 'a.b': 'desc', id: 'asc' }, '6 3 1 4 5 2 9 8 7'],
      [{ 'a.c': 'desc', 'a.b': 'asc', id: 'asc' }, '2 7 6 4 5 9 8 1 3'],
      [{ 'a.c': 'desc', 'a.b': 'desc', id: 'asc' }, '2 8 5 9 4 6 7 3 1'],
      [{ 'a.b': 'asc', a: 'asc', id: 'asc' }, '7 1 2 5 6 8 4 3 9'],
      [{ 'a.b': 'asc', a: 'desc', id: 'asc' }, '7 1 5 2 8 6 3 4 9'],
      [{ 'a.b': 'desc', a: 'asc', id: 'asc' }, '3 8 9 5 6 4 1 2 7'],
      [{ 'a.b': 'desc', a: 'desc', id: 'asc' }, '3 9 8 5 1 4 6 2 7'],
      [{ 'a.0.b': 'asc', id: 'asc' }, '7 1 2 5 8 3 4 6 9'],
      [{ 'a.0.b': 'asc', id: 'desc' }, '7 1 5 2 8 4 3 6 9'],
      [{ 'a.0.b': 'desc', id: 'asc' }, '9 3 6 1 4 5 8 2 7'],
      [{ 'a.0.b': 'desc', id: 'desc' }, '9 3 6 4 1 8 5 2 7'],
    ],
  },
  {
    source: 'jstests/core/query/sort/sort_dotted_paths.js, two arrays apart',
    objects: [
      { id: 1, a: { b: 1 }, c: [{ d: [4, 1] }, { d: [1, 5] }] },
      { id: 2, a: [{ b: [1, 3] }, { b: [2, 4] }], c: { d: 2 } },
      { id: 3, a: { b: 1 }, c: [{ d: [6, 4] }, { d: [9, 7] }] },
      { id: 4, a: [{ b: [2] }, { b: [3, 2] }], c: { d: 4 } },
      { id: 5, a: { b: 1 }, c: [{ d: [2, 3] }, { d: [7, 6] }] },
      { id: 6, a: [{ b: [] }, { b: 3 }], c: { d: 4 } },
      { id: 7, a: { b: 2 }, c: [{ d: [] }, { d: 2 }] },
      { id: 8, a: [{ b: [2] }, { b: [3] }], c: { d: 3 } },
      { id: 9, a: { b: 3 }, c: [{ d: [8] }, { d: [6] }] },
    ],
    answers: [
      [{ 'a.b': 'asc', 'c.d': 'asc', id: 'asc' }, '6 1 2 5 3 7 8 4 9'],
      [{ 'a.b': 'asc', 'c.d': 'desc', id: 'asc' }, '6 3 5 1 2 4 8 7 9'],
      [{ 'a.b': 'desc', 'c.d': 'asc', id: 'asc' }, '2 8 4 6 9 7 1 5 3'],
      [{ 'a.b': 'desc', 'c.d': 'desc', id: 'asc' }, '2 9 4 6 8 7 3 5 1'],
    ],
  },
  {
    source: 'jstests/core/query/sort/sort_dotted_paths.js, three parts',
    objects: [
      { id: 1, a: { b: { c: 2 } } },
      { id: 2, a: { b: { c: [] } } },
      { id: 3, a: [{ b: [] }, { b: { c: [] } }] },
      { id: 4, a: [{ b: { c: 1 } }] },
      { id: 5, a: { b: [{ c: 3 }, { d: 1 }] } },
      { id: 6, a: { b: [{ c: [5] }] } },
      { id: 7, a: [] },
      { id: 8, a: { b: [{ c: [1, 3] }, { c: [2, 5] }] } },
      { id: 9, a: [{ b: [{ c: [] }, { c: [1, 3] }] }] },
    ],
    answers: [
      [{ 'a.b.c': 'asc', id: 'asc' }, '2 3 9 5 7 4 8 1 6'],
      [{ 'a.b.c': 'asc', id: 'desc' }, '9 3 2 7 5 8 4 1 6'],
      [{ 'a.b.c': 'desc', id: 'asc' }, '6 8 5 9 1 4 3 7 2'],
      [{ 'a.b.c': 'desc', id: 'desc' }, '8 6 9 5 1 4 7 3 2'],
    ],
  },
  {
    source: 'jstests/core/query/sort/sort_array.js, lowest and highest',
    objects: [
      { id: 0, a: [3, 0, 1] },
      { id: 1, a: [0, 4, -1] },
    ],
    answers: [
      [{ a: 'asc' }, '1 0'],
      [{ a: 'desc' }, '1 0'],
    ],
  },
  {
    source: 'jstests/core/query/sort/sort_array.js, both keys of one element',
    objects: [
      {
        id: 0,
        x: [
          { y: [4, 0, 1], z: 7 },
          { y: 0, z: 9 },
        ],
      },
      {
        id: 1,
        x: [
          { y: 1, z: 7 },
          { y: 0, z: [8, 6] },
        ],
      },
    ],
    answers: [
      [{ 'x.y': 'asc', 'x.z': 'desc' }, '0 1'],
      [{ 'x.y': 'desc', 'x.z': 'asc' }, '0 1'],
    ],
  },
  {
    source: 'jstests/core/query/sort/sort_array.js, deep',
    objects: [
      { id: 0, a: 1, b: { c: 1 }, d: [{ e: { f: 1, g: [6, 5, 4] } }, { e: { g: [3, 2, 1] } }] },
      { id: 1, a: 2, b: { c: 2 }, d: [{ e: { f: 2, g: [5, 4, 3] } }, { e: { g: [2, 1, 0] } }] },
    ],
    answers: [[{ 'd.e.g': 'asc' }, '1 0']],
  },
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

/** The names of the objects of which `matches` says that they match, sorted. */
export function namesOf(
  { objects }: Facts,
  matches: (object: JsonObject) => boolean,
): readonly string[] {
  return Object.keys(objects)
    .filter((name) => matches(objects[name] as JsonObject))
    .sort()
}

export function sorted(names: string): readonly string[] {
  return names === '' ? [] : names.split(' ').sort()
}

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
