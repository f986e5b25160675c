export { LevelBackend } from './backend.js'
export type { LevelOptions } from './backend.js'
export type { Profile } from './profiles.js'
