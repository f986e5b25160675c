// What answers queries: a third of the code of this store, and an engine for regular expressions. Loaded with the first.

export { findRows } from './find.js'
export { runQuery } from './query.js'
export { parseQuery } from './query-request.js'
export { planOf } from './query-result.js'
