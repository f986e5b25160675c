// The OpenAPI document of the routes there are. Made when it is first asked for.

import { catalogue } from '../../errors.js'
import type { ErrorCode } from '../../errors.js'
import type { JsonObject } from '../../types.js'
import type { Parameter } from '../parameters.js'
import { status } from '../problem.js'
import type { Route } from '../routes.js'
import { requestHeaders, responseHeaders } from './operation.js'
import type {
  Answer,
  Content,
  Example,
  Operation,
  RequestHeader,
  ResponseHeader,
  Tag,
} from './operation.js'
import { operations } from './operations.js'
import { common } from './operations/errors.js'
import { ref } from './schema.js'
import { schemas } from './schemas.js'

const tags: Readonly<Record<Tag, string>> = {
  cores: 'Knowledge cores: in and out in bulk, and what is known of them.',
  graph: 'Questions about the content of cores.',
  sparql: 'SPARQL 1.1 over cores.',
  objects: 'Objects under schemas, in collections.',
  flows: 'Texts and files through flows into cores, and what becomes of them.',
  'reference system': 'What clients of the reference system ask.',
  service: 'The service itself.',
}

const places: Readonly<Record<string, string>> = {
  id: 'The id.',
  name: 'The name of the schema.',
  collection: 'The name of the collection.',
  flow: 'The id of the flow.',
  job: 'The id of the job.',
  document: 'The id of the document.',
  file: 'As the page names it.',
}

/** Their paths begin with this prefix. */
export function documentOf(routes: readonly Route[], prefix: string): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {}
  const used = new Set<Tag>()
  for (const route of routes) {
    const path = (paths[route.path] ??= {})
    used.add(operations[route.operation].tag)
    path[route.method.toLowerCase()] = operationOf(route)
    if (route.method === 'GET') path['head'] = headOf(route)
  }
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'lorekeep',
      summary: 'Knowledge cores, objects and flows.',
      description:
        'A parameter that an operation does not have, or that is there twice, is refused. Errors are problems (RFC 9457): act on their `code`. OPTIONS answers 204 with `Allow`, and a method that a path does not have is a 405.',
      version: '1',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to the document, so that it holds under a mount, too.
    servers: [{ url: '../'.repeat(prefix.split('/').length - 1).replace(/\/$/, '') || '.' }],
    security: [{ token: [] }],
    tags: Object.entries(tags)
      .filter(([name]) => used.has(name as Tag))
      .map(([name, description]) => ({ name, description })),
    paths,
  }
  const components = {
    schemas: usedSchemas(document),
    securitySchemes: {
      token: {
        type: 'http',
        scheme: 'bearer',
        description: 'Or whatever else the host of the server looks at.',
      },
    },
  }
  return { ...document, components }
}

function operationOf(route: Route): JsonObject {
  const operation: Operation = operations[route.operation]
  const { tag, summary, description, body, example } = operation
  return {
    operationId: nameOf(route.operation),
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(route.access === 'open' && { security: [] }),
    ...parametersOf(route, operation),
    ...(body !== undefined && {
      requestBody: {
        required: body.optional === undefined,
        content: contentOf(body.content, example.type, example.body),
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.answers).map(([code, answer]) => [
          code,
          answerOf(versioned(route, answer), Number(code), example),
        ]),
      ),
      ...(isVersionedRead(route) && { 304: answerOf(versioned(route, known), 304, example) }),
      ...problemsOf(route, operation),
    },
  }
}

/** As GET, without a body. */
function headOf(route: Route): JsonObject {
  const { operationId, summary, responses, ...rest } = operationOf(route)
  const answers = Object.entries(responses as Readonly<Record<string, JsonObject>>)
  return {
    ...rest,
    operationId: `${String(operationId)}Head`,
    summary: `${String(summary)}: the head alone`,
    responses: Object.fromEntries(
      answers.map(([code, { content: _, ...answer }]) => [code, answer]),
    ),
  }
}

function parametersOf(route: Route, { headers = [], body, example }: Operation): JsonObject {
  const names = [...route.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name)
  const query: readonly (readonly [string, Parameter])[] = Object.entries(route.query ?? {})
  const parameters = [
    ...names.map((name) => ({
      name,
      in: 'path',
      required: true,
      description: places[name] ?? '',
      schema: { type: 'string', minLength: 1 },
      ...exampleOf(example.path?.[name]),
    })),
    ...query.map(([name, { description, schema, required, repeatable }]) => ({
      name,
      in: 'query',
      description,
      ...(required && { required }),
      schema: repeatable ? { type: 'array', items: schema } : schema,
      ...(repeatable && { explode: true }),
      ...exampleOf(valueOf(schema, example.query?.[name])),
    })),
    ...[...headers, ...codingsOf(body), ...conditionsOf(route)].map((name) => ({
      name,
      in: 'header',
      description: requestHeaders[name],
      schema: { type: 'string' },
    })),
  ]
  return parameters.length === 0 ? {} : { parameters }
}

/** As JSON has it: a query has texts alone. */
function valueOf({ type }: Parameter['schema'], text: string | undefined): unknown {
  return type === 'integer' && text !== undefined ? Number(text) : text
}

function exampleOf(value: unknown): JsonObject {
  return value === undefined ? {} : { example: value as JsonObject }
}

function contentOf(content: Content, type: string | undefined, example: unknown): JsonObject {
  const types = Object.entries(content).map(([name, { schema, each }]) => [
    name,
    {
      schema:
        each === undefined
          ? schema
          : { ...schema, contentMediaType: 'application/json', contentSchema: each },
      ...exampleOf(name === type ? example : undefined),
    },
  ])
  return Object.fromEntries(types) as JsonObject
}

function answerOf(answer: Answer, code: number, example: Example): JsonObject {
  const { description, headers = [], content, mayBeEmpty } = answer
  const isShown = example.status === code
  const type = example.accept ?? 'application/json'
  return {
    description,
    headers: headersOf([...always, ...headers]),
    ...(mayBeEmpty && { 'x-may-be-empty': true }),
    ...(content !== undefined && {
      content: contentOf(content, type, isShown ? example.answer : undefined),
    }),
  }
}

const known: Answer = { description: 'The client has it already.', headers: ['Cache-Control'] }

const isVersionedRead = (route: Route) =>
  route.access === 'read' && route.versions === true && route.method === 'GET'

/** With the headers that tell versions; answers without content have none to tell of. */
function versioned(route: Route, answer: Answer): Answer {
  if (route.access === 'open' || route.versions !== true) return answer
  const { headers = [] } = answer
  const validators: readonly ResponseHeader[] = isVersionedRead(route)
    ? ['ETag', 'Last-Modified?']
    : ['ETag?']
  return { ...answer, headers: [...headers, ...validators] }
}

function conditionsOf(route: Route): readonly RequestHeader[] {
  if (route.access === 'open' || route.versions !== true) return []
  const ofReads: readonly RequestHeader[] = isVersionedRead(route) ? ['If-Modified-Since'] : []
  return ['If-Match', 'If-None-Match', ...ofReads, 'If-Unmodified-Since']
}

function codingsOf(body: Operation['body']): readonly RequestHeader[] {
  return body === undefined ? ['Accept-Encoding'] : ['Accept-Encoding', 'Content-Encoding']
}

const always: readonly ResponseHeader[] = [
  'X-Request-Id',
  'X-Content-Type-Options',
  'Access-Control-Allow-Origin?',
  'Access-Control-Allow-Credentials?',
  'Access-Control-Expose-Headers?',
  'Content-Encoding?',
  'Vary',
]

function headersOf(names: readonly ResponseHeader[]): JsonObject {
  const headers = names.map((given) => {
    const name = given.replace(/\?$/, '') as keyof typeof responseHeaders
    const schema = { type: 'string' }
    return [name, { description: responseHeaders[name], required: name === given, schema }]
  })
  return Object.fromEntries(headers) as JsonObject
}

/** By status, each with the codes that it may have. */
function problemsOf(route: Route, { errors = [] }: Operation): JsonObject {
  const ofChange: readonly ErrorCode[] =
    route.access === 'change' && route.versions === true ? ['LK_HTTP_CONDITION'] : []
  const ofAll: readonly ErrorCode[] = route.access === 'open' ? ['LK_HTTP_NOT_ACCEPTABLE'] : common
  const codes = [...ofAll, ...errors, ...ofChange]
  const byStatus: Record<number, ErrorCode[]> = {}
  for (const code of [...new Set(codes)]) (byStatus[status[code]] ??= []).push(code)
  const problems = Object.entries(byStatus).map(([number, codes]) => [
    number,
    {
      description: codes.map((code) => `\`${code}\`: ${catalogue[code].message}.`).join(' '),
      headers: headersOf([...always, ...headersByStatus(Number(number), codes)]),
      content: {
        'application/problem+json': {
          schema: { allOf: [ref('Problem'), { properties: { code: { enum: codes } } }] },
        },
      },
    },
  ])
  return Object.fromEntries(problems) as JsonObject
}

function headersByStatus(number: number, codes: readonly ErrorCode[]): readonly ResponseHeader[] {
  if (number === 416) return ['Cache-Control', 'Content-Range']
  if (number === 401) return ['Cache-Control', 'WWW-Authenticate']
  if (number === 429 || number === 503) return ['Cache-Control', 'Retry-After']
  if (codes.includes('LK_HTTP_ENCODING')) return ['Cache-Control', 'Accept-Encoding?']
  return ['Cache-Control']
}

/** Those that are named, and those that these name. */
function usedSchemas(document: unknown): JsonObject {
  const all: Readonly<Record<string, JsonObject>> = schemas
  const found = new Map<string, JsonObject>()
  const look = (value: unknown) => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      const schema = all[name]
      if (schema === undefined || found.has(name)) continue
      found.set(name, schema)
      look(schema)
    }
  }
  look(document)
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** `graph-embeddings-service` is no name in most languages. */
function nameOf(operation: string): string {
  return operation.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
