// What the server measures of itself.

import { bytesText } from '../../parts/figures.js'
import type { Measures } from '../../measures.js'
import { texts } from '../../texts.js'
import { Fact, Facts, Fill } from './facts.js'

export function Measured({ measures }: { readonly measures: Measures }) {
  return (
    <>
      <Machine measures={measures} />
      <Caches measures={measures} />
      <Merges measures={measures} />
      <Storage measures={measures} />
      <Requests measures={measures} />
    </>
  )
}

interface PartProps {
  readonly measures: Measures
}

const { health } = texts

function Machine({ measures }: PartProps) {
  const free = measures.sum('lorekeep_disk_free_bytes')
  const late = measures.sum('nodejs_eventloop_delay_seconds', isWorst)
  return (
    <Facts title={health.machine}>
      {free !== undefined && <Fact name={health.diskFree}>{bytesText(free)}</Fact>}
      <Fact name={health.memory}>
        {bytesText(measures.sum('process_resident_memory_bytes') ?? 0)}
      </Fact>
      <Fact name={health.heap}>{bytesText(measures.sum('nodejs_heap_size_used_bytes') ?? 0)}</Fact>
      <Fact name={health.processor}>
        {health.seconds(measures.sum('process_cpu_seconds_total') ?? 0)}
      </Fact>
      {/* At the first look nothing is known of it. */}
      {late !== undefined && late > 1e-4 && (
        <Fact name={health.late}>{health.milliseconds(late * 1000)}</Fact>
      )}
    </Facts>
  )
}

const isWorst = ({ quantile }: { readonly quantile?: string }) => quantile === '0.99'

function Caches({ measures }: PartProps) {
  const caches = measures.labels('lorekeep_cache_max_bytes', 'cache')
  if (caches.length === 0) return null
  return (
    <Facts title={health.caches}>
      {caches.map((cache) => {
        const ofCache = (labels: { readonly cache?: string }) => labels.cache === cache
        const value = measures.sum('lorekeep_cache_bytes', ofCache) ?? 0
        const max = measures.sum('lorekeep_cache_max_bytes', ofCache) ?? 0
        const text = texts.sending(bytesText(value), bytesText(max))
        return <Fill key={cache} name={cache} value={value} max={max} text={text} />
      })}
    </Facts>
  )
}

function Merges({ measures }: PartProps) {
  const parts = measures.sum('lorekeep_index_parts')
  if (parts === undefined) return null
  const merges = (operation: string) =>
    measures.sum('lorekeep_operation_duration_seconds_count', (of) => of.operation === operation)
  return (
    <Facts title={health.merges}>
      <Fact name={health.mostParts}>{texts.count(parts)}</Fact>
      <Fact name={health.waiting}>
        {texts.count(measures.sum('lorekeep_index_waiting_segments') ?? 0)}
      </Fact>
      <Fact name={health.made}>{texts.count(merges('index.make') ?? 0)}</Fact>
      <Fact name={health.merged}>{texts.count(merges('index.merge') ?? 0)}</Fact>
      <Fact name={health.behind}>
        {measures.sum('lorekeep_index_behind') === 1 ? health.yes : health.no}
      </Fact>
    </Facts>
  )
}

function Storage({ measures }: PartProps) {
  const name = 'lorekeep_storage_write_duration_seconds'
  const count = measures.sum(`${name}_count`) ?? 0
  const seconds = measures.sum(`${name}_sum`) ?? 0
  const failed = measures.sum(`${name}_count`, ({ outcome }) => outcome !== 'ok') ?? 0
  return (
    <Facts title={health.storage}>
      <Fact name={health.writes}>{texts.count(count)}</Fact>
      <Fact name={health.written}>
        {bytesText(measures.sum('lorekeep_storage_written_bytes_total') ?? 0)}
      </Fact>
      <Fact name={health.writeTime}>
        {count === 0 ? texts.nothing : health.milliseconds((seconds / count) * 1000)}
      </Fact>
      <Fact name={health.writesFailed}>{texts.count(failed)}</Fact>
    </Facts>
  )
}

function Requests({ measures }: PartProps) {
  const name = 'lorekeep_http_requests_total'
  const failed = measures.sum(name, ({ status }) => status?.startsWith('5') === true)
  return (
    <Facts title={health.requests}>
      <Fact name={health.answered}>{texts.count(measures.sum(name) ?? 0)}</Fact>
      <Fact name={health.failed}>{texts.count(failed ?? 0)}</Fact>
      <Fact name={health.underWay}>
        {texts.count(measures.sum('lorekeep_http_requests_under_way') ?? 0)}
      </Fact>
    </Facts>
  )
}
