// The stores that a handler may have.

export type StoreName = 'knowledge' | 'objects' | 'flows'

/** In the order in which they are told. */
export const storeNames: readonly StoreName[] = ['knowledge', 'objects', 'flows']

export function storesIn(options: Readonly<Partial<Record<StoreName, unknown>>>): StoreName[] {
  return storeNames.filter((name) => options[name] !== undefined)
}
