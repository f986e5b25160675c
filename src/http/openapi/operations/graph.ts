// Questions about the content of cores: of one, or of all that a user has as one graph.

import { graphExamples as examples } from '../examples/graph.js'
import { json, noContent, ok } from '../operation.js'
import type { Answer, Operation } from '../operation.js'
import { ref, text } from '../schema.js'
import { ofQuestions } from './errors.js'

type Question = Omit<Operation, 'tag' | 'example'>

const match = {
  summary: 'Triples of a pattern',
  description: 'With `Accept: application/x-ndjson` one per line, as they are found.',
  body: { content: json(ref('MatchQuestion')) },
  answers: { 200: withLines('Triples, in no order that is promised.', 'Matches', 'Triple') },
  errors: [...ofQuestions, 'LK_HTTP_TIMEOUT'],
} as const satisfies Question

const count = {
  summary: 'How many triples a pattern has',
  body: { content: json(ref('CountQuestion')) },
  answers: { 200: ok('The number.', ref('Count')) },
  errors: ofQuestions,
} as const satisfies Question

const solve = {
  summary: 'Solutions of several patterns',
  description: 'With `Accept: application/x-ndjson` one per line, as they are found.',
  body: { content: json(ref('SolveQuestion')) },
  answers: { 200: withLines('What the variables stand for.', 'Solutions', 'Bindings') },
  errors: [...ofQuestions, 'LK_HTTP_TIMEOUT'],
} as const satisfies Question

const nearest = {
  summary: 'Entities with the nearest vectors',
  body: { content: json(ref('NearestQuestion')) },
  answers: { 200: ok('Nearest first.', ref('NearEntities')) },
  errors: ofQuestions,
} as const satisfies Question

const retrieve = {
  summary: 'What speaks of a question',
  description: 'Passages, entities, and the triples around them, for a text or a vector.',
  body: { content: json(ref('RetrieveQuestion')) },
  answers: { 200: ok('The part of the graph that speaks of it.', ref('Subgraph')) },
  errors: [...ofQuestions, 'LK_MODEL_UNAVAILABLE', 'LK_MODEL_REFUSED', 'LK_MODEL_ANSWER'],
} as const satisfies Question

const search = {
  summary: 'Passages with the words of a question',
  body: { content: json(ref('SearchQuestion')) },
  answers: { 200: ok('Best first.', ref('FoundPassages')) },
  errors: ofQuestions,
} as const satisfies Question

const duplicates = {
  summary: 'Things that may be one',
  body: { content: json(ref('DuplicatesQuestion')) },
  answers: { 200: ok('Likeliest first.', ref('Duplicates')) },
  errors: ofQuestions,
} as const satisfies Question

const answer = {
  summary: 'A question answered in words',
  description:
    "By the host's model, with citations; without one the passages come, numbered. With `Accept: text/event-stream` as it is made: events `sources`, `text`, `answer`, `error`.",
  body: { content: json(ref('AnswerQuestion')) },
  answers: {
    200: {
      description: 'The answer, and what it was made of.',
      headers: ['Cache-Control', 'X-Accel-Buffering?'],
      content: {
        ...json(ref('Answer')),
        'text/event-stream': { schema: text, each: ref('AnswerEvent') },
      },
    },
  },
  errors: [...ofQuestions, 'LK_MODEL_UNAVAILABLE', 'LK_MODEL_REFUSED', 'LK_MODEL_ANSWER'],
} as const satisfies Question

const change = {
  body: { content: json(ref('Pair')) },
  answers: noContent,
  errors: ofQuestions,
} as const

export const graphOperations = {
  matchInCore: { tag: 'graph', ...match, summary: inCore(match), example: examples.matchInCore },
  matchInGraph: { tag: 'graph', ...match, summary: inAll(match), example: examples.matchInGraph },
  countInCore: { tag: 'graph', ...count, summary: inCore(count), example: examples.countInCore },
  countInGraph: { tag: 'graph', ...count, summary: inAll(count), example: examples.countInGraph },
  solveInCore: { tag: 'graph', ...solve, summary: inCore(solve), example: examples.solveInCore },
  solveInGraph: { tag: 'graph', ...solve, summary: inAll(solve), example: examples.solveInGraph },
  nearestInCore: {
    tag: 'graph',
    ...nearest,
    summary: inCore(nearest),
    example: examples.nearestInCore,
  },
  nearestInGraph: {
    tag: 'graph',
    ...nearest,
    summary: inAll(nearest),
    example: examples.nearestInGraph,
  },
  retrieveInCore: {
    tag: 'graph',
    ...retrieve,
    summary: inCore(retrieve),
    example: examples.retrieveInCore,
  },
  retrieveInGraph: {
    tag: 'graph',
    ...retrieve,
    summary: inAll(retrieve),
    example: examples.retrieveInGraph,
  },
  searchInCore: {
    tag: 'graph',
    ...search,
    summary: inCore(search),
    example: examples.searchInCore,
  },
  searchInGraph: {
    tag: 'graph',
    ...search,
    summary: inAll(search),
    example: examples.searchInGraph,
  },
  duplicatesInCore: {
    tag: 'graph',
    ...duplicates,
    summary: inCore(duplicates),
    example: examples.duplicatesInCore,
  },
  duplicatesInGraph: {
    tag: 'graph',
    ...duplicates,
    summary: inAll(duplicates),
    example: examples.duplicatesInGraph,
  },
  answerInCore: {
    tag: 'graph',
    ...answer,
    summary: inCore(answer),
    example: examples.answerInCore,
  },
  answerInGraph: {
    tag: 'graph',
    ...answer,
    summary: inAll(answer),
    example: examples.answerInGraph,
  },
  mergeThings: {
    tag: 'graph',
    summary: 'Make two things one',
    ...change,
    example: examples.mergeThings,
  },
  splitThings: {
    tag: 'graph',
    summary: 'Say that two things are not one',
    ...change,
    example: examples.splitThings,
  },
} as const satisfies Readonly<Record<string, Operation>>

function inCore({ summary }: Question): string {
  return `${summary}: one core`
}

function inAll({ summary }: Question): string {
  return `${summary}: all cores`
}

function withLines(description: string, whole: string, each: string): Answer {
  return {
    description,
    headers: ['Cache-Control'],
    content: { ...json(ref(whole)), 'application/x-ndjson': { schema: text, each: ref(each) } },
  }
}
