// Tests that lorekeep does not pass, each with its reason.

const reasons: Readonly<Record<string, readonly string[]>> = {
  'a function that is no part of SPARQL is refused, not an error of its expression': [
    'sparql/sparql10/syntax-sparql1#syntax-expr-05',
    'sparql/sparql10/syntax-sparql1#syntax-order-05',
    'sparql/sparql10/syntax-sparql1#syntax-order-06',
    'sparql/sparql10/syntax-sparql2#syntax-function-01',
    'sparql/sparql10/syntax-sparql2#syntax-function-02',
    'sparql/sparql10/syntax-sparql2#syntax-function-03',
    'sparql/sparql10/syntax-sparql2#syntax-function-04',
    'sparql/sparql11/syntax-query#test_4',
  ],
}

/** By the folder and name of the test. */
export const known: ReadonlyMap<string, string> = new Map(
  Object.entries(reasons).flatMap(([reason, names]) => names.map((name) => [name, reason])),
)
