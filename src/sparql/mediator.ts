// The engine is made of actors, which ask each other by way of mediators: where these are found.

export interface Mediator<Action, Made> {
  mediate(action: Action): Promise<Made>
  readonly bus: { readonly actors: readonly Actor<Action, Made>[] }
}

interface Actor<Action, Made> {
  readonly name: string
  run(action: Action): Promise<Made>
}

/** The mediator that the engine's actors have by this name. */
export function mediatorOf<Action, Made>(engine: object, name: string): Mediator<Action, Made> {
  // A set goes on with what is added while it is iterated.
  const parts = new Set<object>([engine])
  for (const part of parts) {
    if (name in part) return (part as Record<string, Mediator<Action, Made>>)[name]!
    for (const other of Object.values(part)) {
      if (typeof other === 'object' && other !== null) parts.add(other as object)
    }
  }
  throw new Error(`this version of the SPARQL engine has no ${name}`)
}
