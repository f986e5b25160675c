// The flow that a client of the reference system names.

import { LorekeepError } from '../../errors.js'

export type HasFlow = (id: string) => Promise<boolean>

/** @throws LorekeepError `LK_FLOW_NOT_FOUND` */
export async function checkFlow(hasFlow: HasFlow, flow: string): Promise<void> {
  if (await hasFlow(flow)) return
  throw new LorekeepError('LK_FLOW_NOT_FOUND', `'${flow}'`, { details: { flow } })
}
