// How MongoDB 7 sorts, by the tests that it is published with: see filters.ts.

import type { SortDirection } from '../../../../src/objects/types.js'
import type { JsonObject } from '../../../../src/types.js'

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
