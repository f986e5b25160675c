// Where the import of a workspace works, which is about cores and documents.

import type { CoreAccess } from './core-access.js'
import type { FlowAccess } from './flow-access.js'

export interface WorkspaceAccess {
  readonly cores: CoreAccess
  readonly flows: FlowAccess
  close(): Promise<void>
}
