// Stores as they are lent to the steps of one delivery, where others share the backend. Others may have taken this
// process for dead, and gone on with the document, or removed it: when the process is there again under another
// name, its stores write again, and a step that still runs of before may not.

import { refused } from '../presence.js'
import type { StepContext } from './types.js'

type Stores = Pick<StepContext, 'knowledge' | 'objects' | 'base'>

/** `isOwn`: the process is still who it was when the delivery began. */
export function lentStores({ knowledge, objects, base }: Stores, isOwn: () => boolean): Stores {
  return { knowledge: lent(knowledge, isOwn), objects: lent(objects, isOwn), base }
}

/** What a call that was begun before gives is the store's affair: it knows who began it. */
function lent<Lent extends object>(store: Lent, isOwn: () => boolean): Lent {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...given: readonly unknown[]): unknown => {
        if (!isOwn()) throw refused()
        const result: unknown = Reflect.apply(member, target, given)
        // Whoever has it changes what it shows.
        return name === 'graph' ? lent(result as object, isOwn) : result
      }
    },
  })
}
