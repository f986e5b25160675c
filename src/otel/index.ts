// The bridge to OpenTelemetry: a span for each operation that lorekeep tells of (docs/operations.md). One trace goes
// from the request that loads a text through the queue, also of another process, to what its steps write.

import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type TracerProvider,
} from '@opentelemetry/api'
import { checkOptions } from '../door/options.js'
import { aListOfTexts, withMethods } from '../door/rules.js'
import { unknownMember } from '../door/wording.js'
import { followOperations, operations, type Operation, type OperationName } from '../tracing.js'

export interface InstrumentOptions {
  /** Whose spans they become; by default those of the provider that is registered with the API. */
  readonly tracerProvider?: TracerProvider
  /** Operations that become no spans, such as `storage.write`. None by default. */
  readonly without?: readonly OperationName[]
}

const instrumentOptions = {
  tracerProvider: withMethods<TracerProvider>('a provider of tracers', 'getTracer'),
  without: aListOfTexts,
}

/**
 * Makes spans of what lorekeep does in this process, until the function that it returns is called. Names and
 * attributes are those of the semantic conventions of OpenTelemetry for HTTP and for messaging, and `lorekeep.*`.
 * @throws TypeError for options that cannot be
 */
export function instrument(options: InstrumentOptions = {}): () => void {
  checkOptions('instrument()', options, instrumentOptions)
  const { tracerProvider = trace, without = [] } = options
  const unknown = without.find((name) => !operations.includes(name))
  if (unknown !== undefined) {
    throw new TypeError(`instrument(): without: '${unknown}' ${unknownMember(unknown, operations)}`)
  }
  const tracer = tracerProvider.getTracer('lorekeep')
  const spans = new WeakMap<Operation, Span>()
  const begun = (operation: Operation) => {
    const parent = parentOf(operation)
    const attributes = attributesOf(operation)
    const kind = kinds[operation.operation] ?? SpanKind.INTERNAL
    const span = tracer.startSpan(nameOf(operation), { kind, attributes }, parent)
    const inside = trace.setSpan(parent, span)
    if (operation.operation === 'flows.load') {
      const carrier: Record<string, string> = {}
      propagation.inject(inside, carrier)
      operation.carrier = carrier
    }
    const { around = (run) => run() } = operation
    operation.around = (run) => around(() => context.with(inside, run))
    spans.set(operation, span)
  }
  const endSpan = (operation: Operation) => {
    const span = spans.get(operation)
    if (span === undefined) return
    spans.delete(operation)
    finish(span, operation)
  }
  const names = operations.filter((name) => !without.includes(name))
  return followOperations(names, endSpan, begun)
}

const kinds: Partial<Record<OperationName, SpanKind>> = {
  'http.request': SpanKind.SERVER,
  'flows.load': SpanKind.PRODUCER,
  'flows.process': SpanKind.CONSUMER,
}

function parentOf({ operation, carrier = {} }: Operation): Context {
  // It was loaded at another time, and what happens to be under way where it is processed has not asked for it.
  if (operation === 'flows.process') return propagation.extract(ROOT_CONTEXT, carrier)
  const active = context.active()
  // Whoever instruments the server has read the headers already.
  const isWithin = trace.getSpan(active) !== undefined
  return operation === 'http.request' && !isWithin ? propagation.extract(active, carrier) : active
}

/** Whatever else a client sends is one method: names of spans, and what is counted by them, stay few. */
const knownMethods = 'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' ')

function nameOf(told: Operation): string {
  const { operation } = told
  if (operation === 'http.request') {
    const method = String(told['method'])
    const named = knownMethods.includes(method) ? method : 'HTTP'
    return [named, told['route']].filter(Boolean).join(' ')
  }
  if (operation === 'flows.load') return `load ${String(told['flow'])}`
  if (operation === 'flows.process') return `process ${String(told['flow'])}`
  if (operation === 'flows.step') return `step ${String(told['step'])}`
  return operation
}

const plain = ['operation', 'carrier', 'around', 'error']

function attributesOf(told: Operation): Attributes {
  const attributes: Attributes = {}
  const { operation } = told
  if (operation === 'http.request') {
    const method = String(told['method'])
    const isKnown = knownMethods.includes(method)
    attributes['http.request.method'] = isKnown ? method : '_OTHER'
    if (!isKnown) attributes['http.request.method_original'] = method
    if (typeof told['route'] === 'string') attributes['http.route'] = told['route']
    attributes['lorekeep.request_id'] = String(told['requestId'])
    return attributes
  }
  for (const [name, value] of Object.entries(told)) {
    if (plain.includes(name)) continue
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      attributes[`lorekeep.${name}`] = value
    }
  }
  if (operation === 'flows.load' || operation === 'flows.process') {
    const isLoad = operation === 'flows.load'
    attributes['messaging.system'] = 'lorekeep'
    attributes['messaging.destination.name'] = String(told['flow'])
    attributes['messaging.operation.name'] = isLoad ? 'load' : 'process'
    attributes['messaging.operation.type'] = isLoad ? 'send' : 'process'
    if (!isLoad) attributes['messaging.message.id'] = String(told['job'])
  }
  return attributes
}

function finish(span: Span, { operation, error, ...told }: Operation): void {
  if (operation === 'flows.load' && typeof told['job'] === 'string') {
    span.setAttributes({ 'messaging.message.id': told['job'], 'lorekeep.job': told['job'] })
  }
  const { state } = told
  if (operation === 'flows.process' && typeof state === 'string') {
    span.setAttribute('lorekeep.state', state)
    // It failed: for good, or until it is tried again.
    if (state === 'dead' || state === 'delayed') span.setStatus({ code: SpanStatusCode.ERROR })
  }
  const status = told['status']
  if (operation === 'http.request' && typeof status === 'number' && status > 0) {
    span.setAttribute('http.response.status_code', status)
    if (status >= 500) {
      span.setAttribute('error.type', String(status))
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
  }
  if (error !== undefined) {
    const code = (error as { code?: unknown } | null)?.code
    span.setAttribute('error.type', typeof code === 'string' ? code : 'Error')
    // What a message says may be what a step made of a text.
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
