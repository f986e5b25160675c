// Metrics as text: Prometheus' format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/) and
// OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/).

export type Labels = Readonly<Record<string, string | number>>

export interface Sample {
  /** What stands behind the name: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string
  readonly labels: Labels
  readonly value: number
}

export interface Family {
  /** Without the `_total` of counters. */
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly Sample[]
}

export const formats = [
  {
    mediaType: 'text/plain',
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    isOpenMetrics: false,
  },
  {
    mediaType: 'application/openmetrics-text',
    contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
    isOpenMetrics: true,
  },
] as const

export function exposition(families: readonly Family[], isOpenMetrics: boolean): string {
  let text = ''
  for (const { name, help, type, samples } of families) {
    const told = type === 'counter' && !isOpenMetrics ? `${name}_total` : name
    text += `# HELP ${told} ${escaped(help)}\n# TYPE ${told} ${type}\n`
    for (const { suffix = type === 'counter' ? '_total' : '', labels, value } of samples) {
      text += `${name}${suffix}${labelled(labels)} ${numberText(value)}\n`
    }
  }
  return isOpenMetrics ? `${text}# EOF\n` : text
}

/** Of one sample without labels. */
export function gauge(name: string, help: string, value: number): Family {
  return { name, help, type: 'gauge', samples: [{ labels: {}, value }] }
}

function labelled(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(String(value)).replaceAll('"', '\\"')}"`,
  )
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function numberText(value: number): string {
  return value === Infinity ? '+Inf' : String(value)
}
