// What the process has done, counted from what is told on diagnostics channels: by all lorekeeps and handlers in it.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { catalogue, hasCode, type ErrorCode } from '../../errors.js'
import { followOperations, operations, type Operation } from '../../tracing.js'
import { gauge, type Family, type Sample } from './exposition.js'
import { Counter, Histogram } from './instruments.js'

let measures: Measures | undefined

/** Those of the process, from the first call on: who is never asked for them counts nothing. */
export function processMeasures(): Measures {
  return (measures ??= new Measures())
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

class Measures {
  readonly #operations = new Histogram(
    'lorekeep_operation_duration_seconds',
    'Operations of the stores, from the call to the end of what it gives.',
  )
  readonly #requests = new Counter('lorekeep_http_requests', 'Requests that were answered.')
  readonly #requestTimes = new Histogram(
    'lorekeep_http_request_duration_seconds',
    'Requests, until the end of their answer.',
  )
  readonly #steps = new Histogram(
    'lorekeep_step_duration_seconds',
    'Steps of flows, each time that one runs.',
  )
  readonly #writes = new Histogram(
    'lorekeep_storage_write_duration_seconds',
    'Writes to the storage, until they are acknowledged.',
  )
  readonly #written = new Counter(
    'lorekeep_storage_written_bytes',
    'Bytes of the keys and values of writes to the storage.',
  )
  readonly #delay = monitorEventLoopDelay({ resolution: 20 })
  #underWay = 0

  constructor() {
    this.#delay.enable()
    const begun = ({ operation }: Operation) => {
      if (operation === 'http.request') this.#underWay++
    }
    followOperations(operations, (operation, ms) => this.#ended(operation, ms / 1000), begun)
  }

  #ended(operation: Operation, seconds: number): void {
    const outcome = outcomeOf(operation)
    switch (operation.operation) {
      case 'http.request': {
        this.#underWay--
        const { method, route = 'none', status = 0 } = operation
        const known = methods.includes(String(method)) ? String(method) : 'other'
        const labels = { method: known, route: String(route) }
        this.#requests.add({ ...labels, status: String(status) })
        this.#requestTimes.observe(labels, seconds)
        return
      }
      case 'flows.step': {
        const { flow, step } = operation
        this.#steps.observe({ flow: String(flow), step: String(step), outcome }, seconds)
        return
      }
      case 'storage.write': {
        const partition = String(operation['partition'])
        this.#writes.observe({ partition, outcome }, seconds)
        if (outcome === 'ok') this.#written.add({ partition }, Number(operation['bytes']))
        return
      }
      default:
        this.#operations.observe({ operation: operation.operation, outcome }, seconds)
    }
  }

  get families(): readonly Family[] {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    const delays = [0.5, 0.99].map((quantile): Sample => {
      const value = this.#delay.percentile(quantile * 100) / 1e9
      return { labels: { quantile }, value: Number.isFinite(value) ? value : 0 }
    })
    return [
      this.#requests.family,
      this.#requestTimes.family,
      gauge(
        'lorekeep_http_requests_under_way',
        'Requests that are not answered yet.',
        this.#underWay,
      ),
      this.#operations.family,
      this.#steps.family,
      this.#writes.family,
      this.#written.family,
      gauge('process_resident_memory_bytes', 'Memory of the process.', rss),
      gauge('nodejs_heap_size_used_bytes', 'Of the heap of JavaScript.', heapUsed),
      {
        name: 'nodejs_version_info',
        help: 'Of what runs it.',
        type: 'gauge',
        samples: [{ labels: { version: process.version }, value: 1 }],
      },
      {
        name: 'process_cpu_seconds',
        help: 'Processor time, of the user and the system.',
        type: 'counter',
        samples: [{ labels: {}, value: (user + system) / 1e6 }],
      },
      {
        name: 'nodejs_eventloop_delay_seconds',
        help: 'How late timers go off, since they were first looked at.',
        type: 'gauge',
        samples: delays,
      },
    ]
  }
}

/** `ok`, a code, or `error`: as many as there are codes. */
function outcomeOf({ error }: Operation): string {
  if (error === undefined) return 'ok'
  const codes = Object.keys(catalogue)
  const code = codes.find((code) => hasCode(error, code as ErrorCode))
  return code ?? 'error'
}
