// `define` of flows and of schemas: one definition, or several, from a file of JSON.

import { CutShort, describe } from '../output/failure.js'
import { inputName, readJsonInput } from '../input/input.js'
import { unlessLeft } from '../output/output.js'

interface NamedDefinition {
  readonly key: string
  readonly definition: object
}

/** `member` is where a definition says its own name, which is its place in a server. */
export async function readDefinitions(file: string, member: string): Promise<NamedDefinition[]> {
  const value = await readJsonInput(file, 'a definition')
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.map((definition, index) => {
    const key = (definition as Readonly<Record<string, unknown>> | null)?.[member]
    if (typeof key === 'string' && key !== '') return { key, definition: definition as object }
    throw new Error(
      `${inputName(file)}: definition ${index + 1} of ${list.length} has no ${member}`,
    )
  })
}

/**
 * One after the other, whoever reads of it; the first that is refused ends it, and says which ones
 * were defined.
 * @throws CutShort
 */
export async function defineEach<T>(
  store: { define(key: string, definition: object): Promise<T> },
  what: string,
  definitions: readonly NamedDefinition[],
  onDefined: (defined: T, key: string) => Promise<void>,
): Promise<void> {
  const before: string[] = []
  for (const { key, definition } of definitions) {
    let defined: T
    try {
      defined = await store.define(key, definition)
    } catch (error) {
      const those = before.length === 0 ? '' : ` (defined before it: ${before.join(', ')})`
      throw new CutShort(`${what} '${key}': ${describe(error)}${those}`, error)
    }
    before.push(`'${key}'`)
    await unlessLeft(onDefined(defined, key))
  }
}
