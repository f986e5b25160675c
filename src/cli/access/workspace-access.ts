// Where the import of a workspace works, which is about cores and documents.

import type { CoreAccess } from './core-access.js'
import type { FlowAccess } from './flow-access.js'

export interface WorkspaceAccess {
  readonly cores: CoreAccess
  readonly flows: FlowAccess
  /** The most jobs that are listed: a server has a bound. */
  readonly maxJobs: number | undefined
  close(): Promise<void>
}
