// Relative IRIs of a query, made absolute by the rules of RFC 3986, section 5.2. The engine's parser
// puts two texts together: `<../b>` would keep its dots, and `<//host/b>` lose its host.

/** Of a query as it was written: whether it is one, and its PREFIX and BASE. */
export interface Syntax {
  /** Of an update; one without an operation does nothing. */
  readonly updates?: readonly { readonly operation?: unknown }[]
  readonly type: string
  readonly context: readonly {
    readonly subType: string
    readonly value: { value: string }
  }[]
}

/** In their places. Gives what IRI() resolves against: the last BASE of the query, or `base`. */
export function resolveIris(
  syntax: Syntax,
  base: string | undefined,
  resolve: (iri: string, base: string) => string,
): string | undefined {
  let current = base
  const { context, ...query } = syntax
  // Each is relative to those before it.
  for (const { subType, value } of context) {
    if (subType !== 'base' && subType !== 'prefix') continue
    makeAbsolute(value)
    if (subType === 'base') current = value.value
  }
  visit(query)
  return current

  function visit(node: unknown): void {
    if (typeof node !== 'object' || node === null) return
    if (isIri(node)) makeAbsolute(node)
    else Object.values(node).forEach(visit)
  }

  function makeAbsolute(iri: { value: string }): void {
    // Without a base it is refused with all that is relative. An absolute one stays as it is written.
    if (current === undefined || hasScheme(iri.value)) return
    iri.value = resolve(iri.value, current)
  }
}

export function hasScheme(iri: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(iri)
}

/** One that is written out: the prefix of another is absolute by now. */
function isIri(node: object): node is { value: string } {
  return 'subType' in node && node.subType === 'namedNode' && !('prefix' in node)
}
