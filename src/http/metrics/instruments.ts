// Counters and histograms whose labels are bounded: what there are too many of is counted as 'other'.

import type { Family, Labels, Sample } from './exposition.js'

/** Flows and their steps have names that somebody chooses. */
const mostSeries = 1000

/** Seconds; an operation in memory takes some microseconds, a step of a model minutes. */
const buckets = [0.001, 0.005, 0.02, 0.1, 0.5, 2.5, 10, 60]

class Series<Value> {
  readonly #values = new Map<string, { readonly labels: Labels; value: Value }>()
  readonly #create: () => Value

  constructor(create: () => Value) {
    this.#create = create
  }

  at(labels: Labels): { value: Value } {
    const key = JSON.stringify(Object.values(labels))
    const found = this.#values.get(key)
    if (found !== undefined) return found
    const isFull = this.#values.size >= mostSeries
    const names = Object.keys(labels)
    const others = Object.fromEntries(names.map((name) => [name, 'other']))
    if (isFull && key !== JSON.stringify(Object.values(others))) return this.at(others)
    const made = { labels, value: this.#create() }
    this.#values.set(key, made)
    return made
  }

  samples(samplesOf: (value: Value, labels: Labels) => readonly Sample[]): readonly Sample[] {
    return [...this.#values.values()].flatMap(({ labels, value }) => samplesOf(value, labels))
  }
}

export class Counter {
  readonly #name: string
  readonly #help: string
  readonly #series = new Series(() => 0)

  constructor(name: string, help: string) {
    this.#name = name
    this.#help = help
  }

  add(labels: Labels, by = 1): void {
    this.#series.at(labels).value += by
  }

  get family(): Family {
    const samples = this.#series.samples((value, labels) => [{ labels, value }])
    return { name: this.#name, help: this.#help, type: 'counter', samples }
  }
}

interface Distribution {
  readonly counts: number[]
  sum: number
  count: number
}

/** Of durations in seconds. */
export class Histogram {
  readonly #name: string
  readonly #help: string
  readonly #series = new Series<Distribution>(() => ({
    counts: buckets.map(() => 0),
    sum: 0,
    count: 0,
  }))

  constructor(name: string, help: string) {
    this.#name = name
    this.#help = help
  }

  observe(labels: Labels, seconds: number): void {
    const { value } = this.#series.at(labels)
    value.sum += seconds
    value.count++
    const place = buckets.findIndex((bound) => seconds <= bound)
    if (place >= 0) value.counts[place] = (value.counts[place] ?? 0) + 1
  }

  get family(): Family {
    const samples = this.#series.samples(({ counts, sum, count }, labels) => {
      let below = 0
      const bounded = buckets.map((le, place): Sample => {
        below += counts[place] ?? 0
        return { suffix: '_bucket', labels: { ...labels, le }, value: below }
      })
      return [
        ...bounded,
        { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
        { suffix: '_sum', labels, value: sum },
        { suffix: '_count', labels, value: count },
      ]
    })
    return { name: this.#name, help: this.#help, type: 'histogram', samples }
  }
}
