// The options of a model as a configuration has them.

import type { Members } from '../door/members.js'
import type { ModelOptions } from './client.js'
import { isServerUrl, urlRule } from './server.js'

/** What is wrong is told to the options, and left out or stands as a placeholder here. */
export function modelOptionsFrom(options: Members): ModelOptions {
  const problems = options.problems.count
  const model = options.text('model')
  if (model === undefined && options.problems.count === problems) {
    options.fail('model', 'is missing: name the model as the server knows it')
  }
  const url = options.text('url')
  const isUrl = url !== undefined && isServerUrl(url)
  if (url !== undefined && !isUrl) options.fail('url', urlRule)
  const keyVariable = options.text('keyVariable')
  // A configuration may come from afar: it must not have any secret of the process sent somewhere.
  if (keyVariable !== undefined && !/^[A-Za-z_]\w*_API_KEY$/.test(keyVariable)) {
    options.fail(
      'keyVariable',
      'must be the name of an environment variable that ends with _API_KEY',
    )
  }
  const timeoutMs = options.integer('timeoutMs', 1, 3_600_000)
  return {
    model: model ?? 'none',
    ...(isUrl && { url }),
    ...(keyVariable !== undefined && { keyVariable }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
}
