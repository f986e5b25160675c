// What the calls of a FlowQueue take.

import { checkArgument, checkOptions } from '../door/options.js'
import { aCount, aRule, aSignal, aString, oneOf } from '../door/rules.js'
import { isRecord } from '../door/wording.js'
import { listRules, pageRules } from '../paging.js'
import { aTime } from '../time-range.js'
import { aReads } from '../reads.js'
import { aScope, copied } from '../scope.js'
import { aFlowId } from './definition.js'
import { states } from './queue/jobs.js'
import type { DocumentRef, JobState, ReadOptions } from './types.js'

export const runOptions = {
  signal: aSignal,
  flows: {
    ...aRule<readonly string[]>(
      'an array of ids of flows',
      (flows) => Array.isArray(flows) && flows.every(aFlowId.holds),
    ),
    item: aFlowId,
  },
}
const aState = oneOf(...states)
/** What can be no id of a flow is that of one that there is not. */
const filterOptions = {
  flow: aString,
  state: {
    ...aRule<JobState | readonly JobState[]>(
      `${aState.expected}, or an array of these`,
      (value) => aState.holds(value) || (Array.isArray(value) && value.every(aState.holds)),
    ),
    item: aState,
  },
  user: aString,
  document: aString,
  collection: aString,
  error: aString,
  createdFrom: aTime,
  createdTo: aTime,
  updatedFrom: aTime,
  updatedTo: aTime,
}
const orderOptions = { order: oneOf('asc', 'desc'), scope: aScope, reads: aReads }
/** Of all of a list, and of a page of it. */
export const jobOptions = { ...filterOptions, ...orderOptions, ...listRules }
export const jobPageOptions = { ...filterOptions, ...orderOptions, ...pageRules }
/** Of changes of all that match. */
export const jobChangeOptions = {
  ...filterOptions,
  ...listRules,
  limit: aCount(1),
  signal: aSignal,
  scope: aScope,
}
const documentFilter = {
  user: aString,
  prefix: aString,
  flow: aString,
  collection: aString,
  completedFrom: aTime,
  completedTo: aTime,
  scope: aScope,
  reads: aReads,
}
export const documentOptions = { ...documentFilter, ...listRules }
export const documentPageOptions = { ...documentFilter, ...pageRules }
const readOptions = { scope: aScope, reads: aReads }
export const watchOptions = {
  job: aString,
  flow: aString,
  user: aString,
  document: aString,
  signal: aSignal,
  scope: aScope,
}

const aWellFormed = aRule<string>(
  'a string, well-formed',
  (value) => typeof value === 'string' && value.isWellFormed(),
)
const aRef = aRule<DocumentRef>('named by an object { user, document }', isRecord)
const documentMembers = { user: aWellFormed, document: aWellFormed }

/** With other members, too: what document() and watch() give names a document. */
export function documentIn(call: string, ref: DocumentRef): DocumentRef {
  checkArgument(`the document of ${call}`, ref, aRef)
  const { user, document } = ref
  checkOptions(call, { user, document }, documentMembers, 'document')
  return ref
}

/** Options of a question, whose scope stays as it is. */
export function readIn(call: string, options: ReadOptions): ReadOptions {
  const { scope, reads } = checkOptions(call, options, readOptions)
  return { scope: copied(scope), ...(reads !== undefined && { reads }) }
}
