// Loaded before the server of storm.ts: tells how late its event loop is, when it is asked.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

if (isMainThread && process.send !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: 10 })
  delays.enable()
  process.on('message', () => {
    process.send?.({ p99: delays.percentile(99) / 1e6, most: delays.max / 1e6 })
    delays.reset()
  })
  // It has to end by itself when it was told to stop.
  process.channel?.unref()
}
