// A reference names a version of an object for good: rows of a lane are numbered as they are stored, and
// the table that a row is in lies in the low bits. Later rows of a lane have larger references.

import { laneOfRow } from './lanes.js'

/** From one row's reference to the next one's in the same table. */
export const tableSpan = 4096

/** Schemas that a store may have at a time. */
export const maxTables = tableSpan

/** Rows ever stored: 2^41, which is 70 years of a thousand a second. */
export const refOf = (row: number, table: number): number => row * tableSpan + table

export const tableOf = (ref: number): number => ref % tableSpan

export const laneOfRef = (ref: number): number => laneOfRow(Math.floor(ref / tableSpan))

/** Of no column: it is made of the reference, which counts everybody's objects, and is nobody's to read. */
export const versionField = '_version'
