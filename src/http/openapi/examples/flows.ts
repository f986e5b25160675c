import type { Example } from '../operation.js'

const waitingJob = {
  id: '8cS1QkF3TLyHzV9CVRlK5g-0.1',
  flow: 'letters',
  user: 'alice',
  document: 'urn:visit',
  collection: 'letters',
  state: 'queued',
  attempts: 0,
  completedSteps: [],
  failures: [],
  createdAt: '2026-01-31T12:00:00.000Z',
  updatedAt: '2026-01-31T12:00:00.000Z',
}

/** Without a flow in the path. */
const ofAny = {
  showJob: {
    path: {
      job: '8cS1QkF3TLyHzV9CVRlK5g-0.1',
    },
    status: 200,
    answer: waitingJob,
  },
  cancelJob: {
    path: {
      job: '8cS1QkF3TLyHzV9CVRlK5g-0.1',
    },
    status: 204,
  },
  retryJob: {
    path: {
      job: '8cS1QkF3TLyHzV9CVRlK5g-0.1',
    },
    status: 200,
    answer: {
      id: '8cS1QkF3TLyHzV9CVRlK5g-0.1',
      flow: 'letters',
      user: 'alice',
      document: 'urn:lost',
      collection: 'default',
      state: 'queued',
      attempts: 0,
      completedSteps: [],
      failures: [
        {
          at: '2026-01-31T12:00:00.000Z',
          attempt: 1,
          step: 'fail',
          cause: 'failed',
          message: 'no',
        },
      ],
      createdAt: '2026-01-31T12:00:00.000Z',
      updatedAt: '2026-01-31T12:00:00.000Z',
    },
  },
  showDocument: {
    path: {
      document: 'urn:visit',
    },
    query: {
      user: 'alice',
    },
    status: 200,
    answer: {
      user: 'alice',
      document: 'urn:visit',
      jobs: [
        {
          id: '8cS1QkF3TLyHzV9CVRlK5g-0.1',
          flow: 'letters',
          user: 'alice',
          document: 'urn:visit',
          collection: 'default',
          state: 'done',
          attempts: 1,
          completedSteps: ['chunk', 'embed', 'extract', 'store'],
          failures: [],
          createdAt: '2026-01-31T12:00:00.000Z',
          updatedAt: '2026-01-31T12:00:00.000Z',
        },
      ],
      completed: {
        job: '8cS1QkF3TLyHzV9CVRlK5g-0.1',
        flow: 'letters',
        collection: 'default',
        at: '2026-01-31T12:00:00.000Z',
      },
      core: {
        user: 'alice',
        id: 'urn:visit',
        segments: 1,
        bytes: 5243,
        messages: 2,
        triples: 16,
        entities: 1,
        vectors: 1,
        digest: '13530f8c43b9b00906ee6b532bc519f48c097d32fd2aee47be355094dc4c4e92',
        createdAt: '2026-01-31T12:00:00.000Z',
        updatedAt: '2026-01-31T12:00:00.000Z',
      },
    },
  },
  removeDocument: {
    path: {
      document: 'urn:visit',
    },
    query: {
      user: 'alice',
    },
    status: 204,
  },
  watchJobs: {
    query: {
      job: '8cS1QkF3TLyHzV9CVRlK5g-0.1',
    },
    accept: 'text/event-stream',
    status: 200,
    answer:
      'id: 1\nevent: state\ndata: {"type":"state","job":"8cS1QkF3TLyHzV9CVRlK5g-0.1","flow":"letters","user":"alice","document":"urn:visit","collection":"default","at":"2026-01-31T12:00:00.000Z","state":"done","attempts":1}\n\n',
  },
} as const satisfies Readonly<Record<string, Example>>

/** The same of one flow. */
const ofOne = ({ path, ...example }: Example): Example => ({
  path: { flow: 'letters', ...path },
  ...example,
})

export const flowExamples = {
  defineFlow: {
    path: {
      flow: 'letters',
    },
    type: 'application/json',
    body: {
      steps: ['chunk', 'embed', 'extract', 'store'],
      concurrency: 2,
    },
    status: 201,
    answer: {
      id: 'letters',
      active: true,
      steps: [
        {
          name: 'chunk',
        },
        {
          name: 'embed',
        },
        {
          name: 'extract',
        },
        {
          name: 'store',
        },
      ],
      concurrency: 2,
      maxAttempts: 5,
      stepTimeoutMs: 600000,
      minDelayMs: 1000,
      maxDelayMs: 300000,
      maxQueued: 10000000,
      keepDone: 10000,
    },
  },
  listFlows: {
    status: 200,
    answer: {
      flows: [
        {
          id: 'default',
          active: true,
          steps: [
            {
              name: 'chunk',
            },
            {
              name: 'embed',
            },
            {
              name: 'extract',
            },
            {
              name: 'store',
            },
            {
              name: 'index',
            },
          ],
          concurrency: 32,
          maxAttempts: 5,
          stepTimeoutMs: 600000,
          minDelayMs: 1000,
          maxDelayMs: 300000,
          maxQueued: 10000000,
          keepDone: 10000,
        },
        {
          id: 'letters',
          active: true,
          steps: [
            {
              name: 'chunk',
            },
            {
              name: 'embed',
            },
            {
              name: 'extract',
            },
            {
              name: 'store',
            },
          ],
          concurrency: 2,
          maxAttempts: 5,
          stepTimeoutMs: 600000,
          minDelayMs: 1000,
          maxDelayMs: 300000,
          maxQueued: 10000000,
          keepDone: 10000,
        },
      ],
      limit: 100,
      total: 2,
    },
  },
  showFlow: {
    path: {
      flow: 'letters',
    },
    status: 200,
    answer: {
      id: 'letters',
      active: true,
      steps: [
        {
          name: 'chunk',
        },
        {
          name: 'embed',
        },
        {
          name: 'extract',
        },
        {
          name: 'store',
        },
      ],
      concurrency: 2,
      maxAttempts: 5,
      stepTimeoutMs: 600000,
      minDelayMs: 1000,
      maxDelayMs: 300000,
      maxQueued: 10000000,
      keepDone: 10000,
    },
  },
  stopFlow: {
    path: {
      flow: 'letters',
    },
    status: 200,
    answer: {
      id: 'letters',
      active: false,
      steps: [
        {
          name: 'chunk',
        },
        {
          name: 'embed',
        },
        {
          name: 'extract',
        },
        {
          name: 'store',
        },
      ],
      concurrency: 2,
      maxAttempts: 5,
      stepTimeoutMs: 600000,
      minDelayMs: 1000,
      maxDelayMs: 300000,
      maxQueued: 10000000,
      keepDone: 10000,
    },
  },
  startFlow: {
    path: {
      flow: 'letters',
    },
    status: 200,
    answer: {
      id: 'letters',
      active: true,
      steps: [
        {
          name: 'chunk',
        },
        {
          name: 'embed',
        },
        {
          name: 'extract',
        },
        {
          name: 'store',
        },
      ],
      concurrency: 2,
      maxAttempts: 5,
      stepTimeoutMs: 600000,
      minDelayMs: 1000,
      maxDelayMs: 300000,
      maxQueued: 10000000,
      keepDone: 10000,
    },
  },
  loadText: {
    path: {
      flow: 'letters',
    },
    type: 'application/json',
    body: {
      id: 'urn:visit',
      text: 'RWxsZW4gbGl2ZXMgYnkgdGhlIFRoYW1lcy4=',
      user: 'alice',
      collection: 'letters',
    },
    status: 200,
  },
  listJobs: {
    path: {
      flow: 'letters',
    },
    query: {
      user: 'alice',
      state: 'queued,delayed',
      limit: '10',
    },
    status: 200,
    answer: {
      jobs: [waitingJob],
      limit: 10,
    },
  },
  showJob: ofOne(ofAny.showJob),
  cancelJob: ofOne(ofAny.cancelJob),
  loadFile: {
    path: {
      flow: 'letters',
    },
    query: {
      id: 'urn:visit',
      user: 'alice',
      name: 'visit.txt',
    },
    type: 'text/plain',
    body: 'Ellen lives by the Thames.',
    status: 200,
  },
  showFlowStats: {
    path: {
      flow: 'letters',
    },
    status: 200,
    answer: {
      queued: 1,
      active: 0,
      delayed: 0,
      done: 0,
      dead: 0,
    },
  },
  watchJobs: ofOne(ofAny.watchJobs),
  listDocuments: {
    query: {
      user: 'alice',
    },
    status: 200,
    answer: {
      documents: [
        {
          user: 'alice',
          document: 'urn:visit',
          completed: {
            job: '8cS1QkF3TLyHzV9CVRlK5g-0.1',
            flow: 'letters',
            collection: 'default',
            at: '2026-01-31T12:00:00.000Z',
          },
        },
      ],
      limit: 100,
    },
  },
  showDocument: ofOne(ofAny.showDocument),
  retryJob: ofOne(ofAny.retryJob),
  retryJobs: {
    path: {
      flow: 'letters',
    },
    query: {
      user: 'alice',
      state: 'dead',
    },
    status: 200,
    answer: {
      retried: 1,
    },
  },
  cancelJobs: {
    path: {
      flow: 'letters',
    },
    query: {
      user: 'alice',
      state: 'queued,delayed',
    },
    status: 200,
    answer: {
      cancelled: 1,
    },
  },
  removeDocument: ofOne(ofAny.removeDocument),
  removeFlow: {
    path: {
      flow: 'letters',
    },
    status: 204,
  },
  listAnyJobs: {
    query: {
      state: 'queued',
      limit: '10',
    },
    status: 200,
    answer: {
      jobs: [waitingJob],
      limit: 10,
      total: 1,
    },
  },
  showAnyJob: ofAny.showJob,
  cancelAnyJob: ofAny.cancelJob,
  retryAnyJob: ofAny.retryJob,
  retryAnyJobs: {
    query: {
      user: 'alice',
      error: 'NO',
    },
    status: 200,
    answer: {
      retried: 1,
    },
  },
  cancelAnyJobs: {
    query: {
      user: 'alice',
      document: 'urn:lost',
    },
    status: 200,
    answer: {
      cancelled: 1,
    },
  },
  showAnyDocument: ofAny.showDocument,
  removeAnyDocument: ofAny.removeDocument,
  watchAnyJobs: ofAny.watchJobs,
} as const satisfies Readonly<Record<string, Example>>
