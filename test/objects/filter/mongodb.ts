// What MongoDB 7 answers: facts of its manual (docs/manual) and of the tests that it is published
// with (jstests/core), each row with its source. Where those ask about types that JSON has not, the
// objects are left out.

import type { JsonObject, JsonValue } from '../../../src/objects/types.js'

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

export type { Filter, JsonValue }
