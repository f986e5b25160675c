// Which test files a run runs, and which count as long.

const longSeconds = 3

/** Long ones that `npm test` does not leave out: what each engine has to keep, models, and what a crash leaves. */
const always: readonly string[] = [
  'test/adapters/level.test.ts',
  'test/adapters/memory.test.ts',
  'test/adapters/postgres/conformance.test.ts',
  'test/flow/crash.test.ts',
  'test/flow/model.test.ts',
  'test/flow/shared-model.test.ts',
  'test/graph/model.test.ts',
  'test/knowledge/crash.test.ts',
  'test/knowledge/model.test.ts',
  'test/objects/model.test.ts',
  'test/objects/shared-model.test.ts',
]

/** By file. */
export type Seconds = Readonly<Record<string, number>>

interface Choice {
  readonly long?: boolean
  readonly all?: boolean
  readonly paths?: readonly string[]
}

/** Those under `paths`, or all, or those that are long, or the others; the longest first, or they are waited for alone. */
export function chosenFiles(
  files: readonly string[],
  known: Seconds,
  { long = false, all = false, paths = [] }: Choice,
): string[] {
  const isWanted = (file: string) => {
    if (paths.length > 0) return paths.some((path) => file.startsWith(path))
    return all || long === (file in known && !always.includes(file))
  }
  return files.filter(isWanted).sort((one, other) => (known[other] ?? 0) - (known[one] ?? 0))
}

/** Those that took long, in whole seconds, rounded up: what counts as long has to do so when it is read again. */
export function longFiles(files: readonly string[], seconds: Seconds): Record<string, number> {
  return Object.fromEntries(
    files.flatMap((file) => {
      const taken = seconds[file] ?? 0
      return taken > longSeconds ? [[file, Math.ceil(taken)]] : []
    }),
  )
}
