// Flows, what is loaded into them, jobs and documents.

import type { ErrorCode } from '../../../errors.js'
import { flowExamples as examples } from '../examples/flows.js'
import { json, noContent, ok } from '../operation.js'
import type { Answer, Operation } from '../operation.js'
import { bytes, ref, text } from '../schema.js'
import { ofJson } from './errors.js'

const queued: Readonly<Record<number, Answer>> = {
  200: {
    description:
      'It is durable, and queued. Without a body, unless the host wants `{}` for older clients.',
    mayBeEmpty: true,
    headers: ['Cache-Control', 'Lorekeep-Job', 'Location'],
    content: json(ref('Empty')),
  },
}
const ofLoads = [
  'LK_FLOW_NOT_FOUND',
  'LK_FLOW_INACTIVE',
  'LK_FLOW_FULL',
  'LK_DOCUMENT_INVALID',
  'LK_DOCUMENT_TOO_LARGE',
  'LK_DOCUMENT_ACCESS',
] as const satisfies readonly ErrorCode[]
const unlimited = 'For tokens for any user and every collection.'

const untilNext =
  'Where the answer has a `next`, some may be left: ask again, with that as `after` and the same filters.'

export const flowOperations = {
  listFlows: {
    tag: 'flows',
    summary: 'List flows',
    answers: { 200: ok('A page of them, and how many there are.', ref('FlowPage')) },
    errors: ['LK_CURSOR'],
    example: examples.listFlows,
  },
  showFlow: {
    tag: 'flows',
    summary: 'A flow',
    answers: { 200: ok('Its definition, defaults filled in.', ref('Flow')) },
    errors: ['LK_FLOW_NOT_FOUND'],
    example: examples.showFlow,
  },
  defineFlow: {
    tag: 'flows',
    summary: 'Define or change a flow',
    description: unlimited,
    body: { content: json(ref('NewFlow')) },
    answers: {
      200: ok('It was changed.', ref('Flow')),
      201: ok('It is new.', ref('Flow')),
    },
    errors: [...ofJson, 'LK_FLOW_INVALID'],
    example: examples.defineFlow,
  },
  removeFlow: {
    tag: 'flows',
    summary: 'Remove a flow',
    description: unlimited,
    answers: noContent,
    errors: ['LK_FLOW_NOT_FOUND', 'LK_FLOW_IN_USE'],
    example: examples.removeFlow,
  },
  startFlow: {
    tag: 'flows',
    summary: 'Let a flow take and process documents',
    description: unlimited,
    answers: { 200: ok('The flow.', ref('Flow')) },
    errors: ['LK_FLOW_NOT_FOUND'],
    example: examples.startFlow,
  },
  stopFlow: {
    tag: 'flows',
    summary: 'Let a flow take and process nothing more',
    description: unlimited,
    answers: { 200: ok('The flow.', ref('Flow')) },
    errors: ['LK_FLOW_NOT_FOUND'],
    example: examples.stopFlow,
  },
  showFlowStats: {
    tag: 'flows',
    summary: 'How many jobs a flow has',
    description: unlimited,
    answers: { 200: ok('By state.', ref('FlowStats')) },
    errors: ['LK_FLOW_NOT_FOUND'],
    example: examples.showFlowStats,
  },
  loadText: {
    tag: 'flows',
    summary: 'Load a text',
    body: { content: json(ref('TextLoad')) },
    answers: queued,
    errors: [...ofJson, ...ofLoads],
    example: examples.loadText,
  },
  loadFile: {
    tag: 'flows',
    summary: 'Load a file',
    description: 'Markdown, HTML, PDF, DOCX, EPUB, CSV, JSON, or a plain text.',
    body: {
      content: {
        'application/octet-stream': { schema: bytes },
        'text/plain': { schema: text },
        'text/markdown': { schema: text },
        'text/html': { schema: text },
        'application/pdf': { schema: bytes },
        'multipart/form-data': { schema: ref('FileForm') },
      },
    },
    answers: queued,
    errors: [
      ...ofLoads,
      'LK_DOCUMENT_TYPE',
      'LK_DOCUMENT_UNREADABLE',
      'LK_HTTP_TOO_LARGE',
      'LK_HTTP_ENCODING',
      'LK_HTTP_TIMEOUT',
      'LK_HTTP_BODY_CONSUMED',
      'LK_HTTP_BUSY',
      'LK_PEER_MISSING',
    ],
    example: examples.loadFile,
  },
  listJobs: {
    tag: 'flows',
    summary: 'List jobs of a flow',
    description: 'In the order in which they came, whatever their state.',
    answers: { 200: ok('A page of them.', ref('JobPage')) },
    errors: ['LK_FLOW_NOT_FOUND', 'LK_CURSOR'],
    example: examples.listJobs,
  },
  showJob: {
    tag: 'flows',
    summary: 'A job',
    answers: { 200: ok('The job.', ref('Job')) },
    errors: ['LK_JOB_NOT_FOUND'],
    example: examples.showJob,
  },
  cancelJob: {
    tag: 'flows',
    summary: 'Take a job away',
    answers: noContent,
    errors: ['LK_JOB_NOT_FOUND', 'LK_JOB_STATE'],
    example: examples.cancelJob,
  },
  retryJob: {
    tag: 'flows',
    summary: 'Let a job that failed go on',
    answers: { 200: ok('The job.', ref('Job')) },
    errors: ['LK_JOB_NOT_FOUND', 'LK_JOB_STATE'],
    example: examples.retryJob,
  },
  retryJobs: {
    tag: 'flows',
    summary: 'Let all jobs go on that failed and match',
    description: `Of those there were at the first request. ${untilNext}`,
    answers: { 200: ok('How many there were.', ref('RetriedJobs')) },
    errors: ['LK_FLOW_NOT_FOUND', 'LK_CURSOR'],
    example: examples.retryJobs,
  },
  cancelJobs: {
    tag: 'flows',
    summary: 'Take all jobs away that match and are not done',
    description: `Of those there were at the first request. ${untilNext}`,
    answers: { 200: ok('How many there were.', ref('CancelledJobs')) },
    errors: ['LK_FLOW_NOT_FOUND', 'LK_CURSOR'],
    example: examples.cancelJobs,
  },
  listDocuments: {
    tag: 'flows',
    summary: 'List documents that became knowledge',
    answers: { 200: ok('A page of them.', ref('DocumentPage')) },
    errors: ['LK_CURSOR'],
    example: examples.listDocuments,
  },
  showDocument: {
    tag: 'flows',
    summary: 'What became of a document',
    answers: { 200: ok('Its jobs in this flow, and its core.', ref('KnownDocument')) },
    errors: ['LK_DOCUMENT_NOT_FOUND', 'LK_DOCUMENT_INVALID', 'LK_CORE_REF'],
    example: examples.showDocument,
  },
  removeDocument: {
    tag: 'flows',
    summary: 'Delete what a document became',
    description: 'Its jobs in every flow, its core, its objects.',
    answers: noContent,
    errors: ['LK_DOCUMENT_NOT_FOUND', 'LK_DOCUMENT_INVALID', 'LK_DOCUMENT_ACCESS'],
    example: examples.removeDocument,
  },
  watchJobs: {
    tag: 'flows',
    summary: 'Watch jobs of a flow',
    description: 'Server-sent events; those of one job end by themselves.',
    answers: {
      200: {
        description: 'Events, as they happen.',
        headers: ['Cache-Control', 'X-Accel-Buffering'],
        content: { 'text/event-stream': { schema: text, each: ref('JobEvent') } },
      },
    },
    errors: [
      'LK_FLOW_NOT_FOUND',
      'LK_JOB_NOT_FOUND',
      'LK_DOCUMENT_INVALID',
      'LK_HTTP_BUSY',
      'LK_HTTP_TIMEOUT',
    ],
    example: examples.watchJobs,
  },
  listAnyJobs: {
    tag: 'flows',
    summary: 'List jobs of all flows',
    description: 'In the order in which they came, whatever their state.',
    answers: { 200: ok('A page of them.', ref('JobPage')) },
    errors: ['LK_FLOW_NOT_FOUND', 'LK_CURSOR'],
    example: examples.listAnyJobs,
  },
  showAnyJob: {
    tag: 'flows',
    summary: 'A job of whatever flow',
    answers: { 200: ok('The job.', ref('Job')) },
    errors: ['LK_JOB_NOT_FOUND'],
    example: examples.showAnyJob,
  },
  cancelAnyJob: {
    tag: 'flows',
    summary: 'Take a job of whatever flow away',
    answers: noContent,
    errors: ['LK_JOB_NOT_FOUND', 'LK_JOB_STATE'],
    example: examples.cancelAnyJob,
  },
  retryAnyJob: {
    tag: 'flows',
    summary: 'Let a job of whatever flow that failed go on',
    answers: { 200: ok('The job.', ref('Job')) },
    errors: ['LK_JOB_NOT_FOUND', 'LK_JOB_STATE'],
    example: examples.retryAnyJob,
  },
  retryAnyJobs: {
    tag: 'flows',
    summary: 'Let all jobs of whatever flow go on that failed and match',
    description: `Of those there were at the first request. ${untilNext}`,
    answers: { 200: ok('How many there were.', ref('RetriedJobs')) },
    errors: ['LK_FLOW_NOT_FOUND', 'LK_CURSOR'],
    example: examples.retryAnyJobs,
  },
  cancelAnyJobs: {
    tag: 'flows',
    summary: 'Take all jobs of whatever flow away that match and are not done',
    description: `Of those there were at the first request. ${untilNext}`,
    answers: { 200: ok('How many there were.', ref('CancelledJobs')) },
    errors: ['LK_FLOW_NOT_FOUND', 'LK_CURSOR'],
    example: examples.cancelAnyJobs,
  },
  showAnyDocument: {
    tag: 'flows',
    summary: 'What became of a document in any flow',
    answers: { 200: ok('Its jobs, and its core.', ref('KnownDocument')) },
    errors: ['LK_DOCUMENT_NOT_FOUND', 'LK_DOCUMENT_INVALID', 'LK_CORE_REF'],
    example: examples.showAnyDocument,
  },
  removeAnyDocument: {
    tag: 'flows',
    summary: 'Delete what a document became in any flow',
    description: 'Its jobs in every flow, its core, its objects.',
    answers: noContent,
    errors: ['LK_DOCUMENT_NOT_FOUND', 'LK_DOCUMENT_INVALID', 'LK_DOCUMENT_ACCESS'],
    example: examples.removeAnyDocument,
  },
  watchAnyJobs: {
    tag: 'flows',
    summary: 'Watch jobs of all flows',
    description: 'Server-sent events; those of one job end by themselves.',
    answers: {
      200: {
        description: 'Events, as they happen.',
        headers: ['Cache-Control', 'X-Accel-Buffering'],
        content: { 'text/event-stream': { schema: text, each: ref('JobEvent') } },
      },
    },
    errors: [
      'LK_FLOW_NOT_FOUND',
      'LK_JOB_NOT_FOUND',
      'LK_DOCUMENT_INVALID',
      'LK_HTTP_BUSY',
      'LK_HTTP_TIMEOUT',
    ],
    example: examples.watchAnyJobs,
  },
} as const satisfies Readonly<Record<string, Operation>>
