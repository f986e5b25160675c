export { importWorkspace } from './import.js'
export type { WorkspaceStores } from './import.js'
export type {
  DocumentCounts,
  ImportedCore,
  WorkspaceLimits,
  WorkspaceOptions,
  WorkspaceProgress,
  WorkspaceSource,
  WorkspaceSummary,
} from './types.js'
