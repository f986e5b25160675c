// Which stores are being closed, for who keeps a connection open without any work under way. Beside
// the stores, not in their interfaces: who brings a store of its own has no such signal to give.

const signals = new WeakMap<object, AbortSignal>()

export function tellClosing(store: object, signal: AbortSignal): void {
  signals.set(store, signal)
}

/** Aborts when the store begins to close; undefined where nobody tells. */
export function closingOf(store: object | undefined): AbortSignal | undefined {
  return store && signals.get(store)
}
