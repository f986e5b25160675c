// Opening the flows: the queue, whoever watches it here, and those who share it.

import { firstFlow } from './definition.js'
import { EventHub } from './events.js'
import { Flows, type ClosableFlowQueue, type FlowQueueOptions } from './flow-queue.js'
import { Neighbours } from './neighbours.js'
import { JobQueue } from './queue/queue.js'
import type { Delivery, FlowRunner } from './runner.js'
import type { JobEvent } from './types.js'

/** @throws LorekeepError `LK_STORAGE_*` */
export async function openFlowQueue(options: FlowQueueOptions): Promise<ClosableFlowQueue> {
  const hub = new EventHub()
  const runners = new Set<FlowRunner>()
  const running = new Set<Delivery>()
  const { flows, clock, chance, createId, leaseMs, isAlone, presence } = options
  let opened: JobQueue | undefined = undefined
  let hasHeard = false
  const neighbours = new Neighbours({
    sharing: flows.sharing,
    clock,
    isWatchedHere: () => hub.isWatched,
    onChange: ({ flows, cancelled }) => {
      // Others may speak before it is open.
      hasHeard = true
      opened?.outdate()
      for (const runner of runners) runner.noticeOthers(flows, cancelled)
    },
    onEvent: (event) => hub.emit(event),
  })
  const tell = (event: JobEvent) => {
    hub.emit(event)
    neighbours.tellEvent(event)
  }
  const isWatched = () => hub.isWatched || neighbours.isWatched
  const queue = await JobQueue.open({
    storage: flows,
    firstFlow: firstFlow(),
    clock,
    chance,
    createId,
    leaseMs,
    isAlone,
    presence,
    isWatched,
    onCommit: ({ events, queued, cancelled }) => {
      for (const event of events) tell(event)
      neighbours.tellChange(queued, cancelled)
      for (const runner of runners) {
        if (cancelled.length > 0) runner.interrupt(cancelled, 'lost')
        runner.wake(queued)
      }
    },
    onPosted: ({ events, queued }) => {
      for (const event of events) tell(event)
      neighbours.tellChange(queued, [])
      for (const runner of runners) runner.noticeOthers([...queued], [])
    },
  })
  opened = queue
  if (hasHeard) queue.outdate()
  return new Flows({ ...options, queue, hub, neighbours, runners, running, tell, isWatched })
}
