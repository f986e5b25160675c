// Queries to begin with.

const prefixes = `PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
`

export const examples = {
  types: `SELECT ?type (COUNT(?thing) AS ?things)
WHERE { ?thing a ?type }
GROUP BY ?type
ORDER BY DESC(?things)
LIMIT 50
`,
  links: `${prefixes}
SELECT ?name (COUNT(?other) AS ?links)
WHERE {
  ?thing skos:related ?other ; rdfs:label ?name
}
GROUP BY ?name
ORDER BY DESC(?links)
LIMIT 50
`,
  passages: `PREFIX schema: <https://schema.org/>

SELECT ?passage ?text
WHERE { ?passage schema:text ?text }
LIMIT 20
`,
  neighbours: `${prefixes}
CONSTRUCT {
  ?a skos:related ?b .
  ?a rdfs:label ?aName .
  ?b rdfs:label ?bName
}
WHERE {
  ?a skos:related ?b .
  ?a rdfs:label ?aName .
  ?b rdfs:label ?bName
}
LIMIT 600
`,
} as const
