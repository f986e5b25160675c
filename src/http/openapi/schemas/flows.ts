// Flows, jobs and documents.

import {
  anyObject,
  count,
  described,
  flag,
  list,
  object,
  page,
  ref,
  text,
  time,
  words,
} from '../schema.js'

const numbers = {
  concurrency: count,
  maxAttempts: count,
  stepTimeoutMs: count,
  minDelayMs: count,
  maxDelayMs: count,
  maxQueued: count,
  keepDone: count,
}
const optional = Object.fromEntries(
  Object.entries(numbers).map(([name, schema]) => [`${name}?`, schema]),
)
const document = {
  'metadata?': described(
    'Triples about the document; terms also as the reference system has them.',
    {
      type: ['array', 'null'],
      items: anyObject,
    },
  ),
  'user?': { type: ['string', 'null'] },
  'collection?': { type: ['string', 'null'] },
  'title?': { type: ['string', 'null'] },
}
const left = {
  'next?': described('Where more may be left: what to pass as `after`.', text),
}
const event = {
  job: text,
  flow: text,
  user: text,
  document: text,
  collection: text,
  at: time,
  state: ref('JobState'),
  attempts: count,
}

export const flowSchemas = {
  NewFlow: object({
    'id?': text,
    'active?': flag,
    'steps?': list({
      anyOf: [text, object({ name: text, 'options?': anyObject })],
    }),
    ...optional,
  }),
  Flow: object({
    id: text,
    active: flag,
    steps: list(object({ name: text, 'options?': anyObject, 'code?': { const: true } })),
    ...numbers,
  }),
  FlowPage: object({ flows: list(ref('Flow')), ...page, total: count }),
  FlowStats: object({ queued: count, active: count, delayed: count, done: count, dead: count }),
  TextLoad: {
    ...object({
      id: text,
      'text?': described('Base64 of the text.', { type: ['string', 'null'] }),
      'charset?': described('Of `text`.', { type: ['string', 'null'] }),
      'content?': described('The text itself, in place of `text`.', { type: ['string', 'null'] }),
      ...document,
    }),
    anyOf: [{ required: ['text'] }, { required: ['content'] }],
    additionalProperties: true,
  },
  FileForm: object({
    file: { type: 'string', format: 'binary' },
    'id?': text,
    'user?': text,
    'collection?': text,
    'title?': text,
    'name?': text,
    'charset?': text,
    'type?': text,
    'metadata?': described('JSON: a list of triples.', text),
  }),
  JobState: words('queued', 'delayed', 'active', 'done', 'dead'),
  JobFailure: object({
    at: time,
    attempt: count,
    step: text,
    cause: words('failed', 'timeout', 'crashed', 'released'),
    'code?': text,
    message: text,
  }),
  Job: object({
    id: text,
    flow: text,
    user: text,
    document: text,
    collection: text,
    state: ref('JobState'),
    attempts: count,
    completedSteps: list(text),
    failures: list(ref('JobFailure')),
    createdAt: time,
    updatedAt: time,
    'dueAt?': time,
    'superseded?': { const: true },
  }),
  JobPage: object({
    jobs: list(ref('Job')),
    ...page,
    'total?': described('Where it is known without looking at each.', count),
  }),
  RetriedJobs: object({ retried: count, ...left }),
  CancelledJobs: object({ cancelled: count, ...left }),
  Completion: object({ job: text, flow: text, collection: text, at: time }),
  CompletedDocument: object({ user: text, document: text, completed: ref('Completion') }),
  DocumentPage: object({ documents: list(ref('CompletedDocument')), ...page }),
  KnownDocument: object({
    user: text,
    document: text,
    jobs: list(ref('Job')),
    'completed?': ref('Completion'),
    'core?': ref('CoreStat'),
  }),
  JobEvent: {
    anyOf: [
      object({ type: words('state', 'queued', 'active', 'done', 'cancelled'), ...event }),
      object({ type: { const: 'progress' }, ...event, step: text, done: count, total: count }),
      object({ type: { const: 'step' }, ...event, step: text }),
      object({ type: words('failed', 'dead'), ...event, failure: ref('JobFailure') }),
    ],
  },
} as const
