export { PostgresBackend } from './backend.js'
export type { PostgresOptions } from './options.js'
