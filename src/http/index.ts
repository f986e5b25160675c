export { createHandler } from './handler.js'
export type { Handler, HandlerOptions, RequestInfo } from './handler.js'
export type { Authenticate, Principal } from './auth.js'
export type { Problem } from './problem.js'
