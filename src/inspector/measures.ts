// What a server tells Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/), read back.

type Labels = Readonly<Record<string, string>>

export class Measures {
  readonly #samples: readonly { readonly name: string; readonly labels: Labels; value: number }[]

  constructor(text: string) {
    this.#samples = text
      .split('\n')
      .map((line) => /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line))
      .filter((found) => found !== null)
      .map(([, name = '', labels = '', value]) => ({
        name,
        labels: labelsIn(labels),
        value: value === '+Inf' ? Infinity : Number(value),
      }))
  }

  /** The sum of those whose labels are so; `undefined` where there is none. */
  sum(name: string, wanted: (labels: Labels) => boolean = () => true): number | undefined {
    const found = this.#samples.filter((one) => one.name === name && wanted(one.labels))
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
  }

  /** The values of a label, in the order in which they are told. */
  labels(name: string, label: string): readonly string[] {
    const found = this.#samples.filter((one) => one.name === name)
    return [...new Set(found.map(({ labels }) => labels[label] ?? ''))]
  }
}

function labelsIn(text: string): Labels {
  const pairs = [...text.matchAll(/([a-z_]+)="((?:\\.|[^"\\])*)"/g)]
  const unescaped = (value: string) =>
    value.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter))
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, unescaped(value)]))
}
