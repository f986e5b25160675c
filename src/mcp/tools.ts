// The tools, in the order in which assistants see them.

import type { Tool } from './tool.js'
import { answerContext } from './tools/answer-context.js'
import { describe } from './tools/describe.js'
import { job } from './tools/job.js'
import { list } from './tools/list.js'
import { load } from './tools/load.js'
import { match } from './tools/match.js'
import { queryObjects } from './tools/query-objects.js'
import { search } from './tools/search.js'

export const tools: readonly Tool[] = [
  answerContext,
  search,
  match,
  describe,
  queryObjects,
  list,
  job,
  load,
]
