// The options of a model as a configuration has them.

import type { OptionReader } from '../options.js'
import type { Extractor } from '../types.js'
import type { ModelOptions } from './client.js'
import { openaiExtractor } from './extractor.js'
import { isServerUrl, urlRule } from './server.js'

export function extractorOfModelFrom(reader: OptionReader): Extractor {
  const options = modelOptionsFrom(reader)
  return openaiExtractor(options)
}

/** What is wrong is told to the reader, and left out or stands as a placeholder here. */
export function modelOptionsFrom(reader: OptionReader): ModelOptions {
  const problems = reader.problems.count
  const model = reader.text('model')
  if (model === undefined && reader.problems.count === problems) {
    reader.fail('model', 'is missing: name the model as the server knows it')
  }
  const url = reader.text('url')
  const isUrl = url !== undefined && isServerUrl(url)
  if (url !== undefined && !isUrl) reader.fail('url', urlRule)
  const keyVariable = reader.text('keyVariable')
  // A configuration may come from afar: it must not have any secret of the process sent somewhere.
  if (keyVariable !== undefined && !/^[A-Za-z_]\w*_API_KEY$/.test(keyVariable)) {
    reader.fail(
      'keyVariable',
      'must be the name of an environment variable that ends with _API_KEY',
    )
  }
  const timeoutMs = reader.integer('timeoutMs', 1, 3_600_000)
  return {
    model: model ?? 'none',
    ...(isUrl && { url }),
    ...(keyVariable !== undefined && { keyVariable }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
}
