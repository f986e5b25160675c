// The OpenAPI document as one page to read: no script, nothing from elsewhere.

import { createHash } from 'node:crypto'
import type { JsonObject, JsonValue } from '../../../types.js'
import { curlOf } from './curl.js'
import { style } from './style.js'
import { markup, raw, type Html } from './html.js'
import { typeOf } from './type.js'
import type { Answer, Content, Operation, Parameter, Told } from './told.js'

interface Place {
  readonly path: string
  readonly method: string
  readonly operation: Operation
  /** It answers HEAD, too, under this name. */
  readonly head?: string | undefined
}

/** What the page may load: its own style. */
export const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Of a document whose parts are not shared. */
export function pageOf(document: JsonObject): string {
  const { info, tags, paths, components } = document as unknown as Told
  const places = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => method !== 'head')
      .map(([method, operation]): Place => {
        const head = method === 'get' ? operations['head']?.operationId : undefined
        return { path, method, operation, head }
      }),
  )
  const ofTag = (name: string) => places.filter(({ operation }) => operation.tags.includes(name))
  const schemas = Object.entries(components.schemas)
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${info.title}: reference</title>
        <style>${raw(style)}</style>
      </head>
      <body>
        <nav aria-label="Operations">
          ${tags.map(
            ({ name }) =>
              markup`<details>
                <summary>${name}</summary>
                <ul>
                  ${ofTag(name).map(lineOf)}
                </ul>
              </details>`,
          )}
          <a class="title" href="#schemas">schemas</a>
        </nav>
        <main>
          <h1>${info.title}</h1>
          <p>${info.summary} ${marked(info.description)}</p>
          <p>
            As OpenAPI 3.1: <a href="openapi.json">openapi.json</a>. In the examples
            <code>$HOST</code> is where the server is, such as <code>http://localhost:8088</code>,
            and <code>$TOKEN</code> what it knows you by.
          </p>
          ${tags.map(
            ({ name, description }) =>
              markup`<section>
                <h2>${name}</h2>
                <p class="quiet">${marked(description)}</p>
                ${ofTag(name).map(articleOf)}
              </section>`,
          )}
          <section>
            <h2 id="schemas">schemas</h2>
            ${schemas.map(
              ([name, schema]) =>
                markup`<article id="schema-${name}">
                  <h3>${name}</h3>
                  ${schemaOf(schema)}
                </article>`,
            )}
          </section>
        </main>
      </body>
    </html> `.text
}

function lineOf({ method, operation: { operationId, summary } }: Place): Html {
  return markup`<li>
    <a href="#${operationId}"
      ><b class="${method}">${method.toUpperCase()}</b> <span>${summary}</span></a
    >
  </li>`
}

function articleOf(place: Place): Html {
  const { path, method, operation, head } = place
  const { operationId, summary, description, security, parameters = [] } = operation
  const { requestBody, responses } = operation
  return markup`<article id="${operationId}">
    <h3>
      <span class="method ${method}">${method.toUpperCase()}</span
      >${head === undefined ? '' : markup`<span class="method" id="${head}">HEAD</span>`}${path}
    </h3>
    <p>
      <b>${summary}.</b>
      ${marked(description ?? '')}${security?.length === 0 ? ' Without a token.' : ''}
    </p>
    ${
      parameters.length === 0
        ? ''
        : markup`<h4>Parameters</h4>
            <dl>${parameters.map(parameterOf)}</dl>`
    }
    ${
      requestBody === undefined
        ? ''
        : markup`<h4>Body${requestBody.required ? '' : ' (may be left out)'}</h4>
            ${contentOf(requestBody.content)}`
    }
    <h4>Example</h4>
    <pre>${curlOf(path, method, operation)}</pre>
    <h4>Answers</h4>
    ${Object.entries(responses).map(([status, answer]) => answerOf(status, answer))}
  </article> `
}

function parameterOf({ name, in: place, description, required, schema, example }: Parameter): Html {
  return markup`<dt>
      <code>${name}</code> <span class="quiet">${place}${required ? ', required' : ''}</span>
    </dt>
    <dd>
      ${marked(description ?? '')} ${typeOf(schema)}
      ${example === undefined ? '' : markup`<span class="quiet">Such as <code>${textOf(example)}</code>.</span>`}
    </dd>`
}

/** Of a problem its codes are told: the rest is the same for all of them. */
function answerOf(status: string, { description, headers, content = {} }: Answer): Html {
  const head = markup`<b>${status}</b> ${marked(description)}`
  if ('application/problem+json' in content) {
    return markup`<p>${head} <a href="#schema-Problem">Problem</a></p>`
  }
  const names = Object.entries(headers)
  return markup`<details>
    <summary>${head}</summary>
    ${contentOf(content)}
    <dl>
      ${names.map(
        ([name, of]) =>
          markup`<dt><code>${name}</code></dt>
            <dd>${marked(of.description)}</dd>`,
      )}
    </dl>
  </details>`
}

function contentOf(content: Content): Html {
  const all = Object.entries(content).map(
    ([type, { schema, example }]) =>
      markup`<p><code>${type}</code></p>
        ${schemaOf(schema)} ${example === undefined ? '' : markup`<pre>${textOf(example)}</pre>`}`,
  )
  return markup`${all}`
}

/** As JSON, with links where it names another; where it is another, the link alone. */
function schemaOf(schema: JsonObject): Html {
  const [, name] =
    /^\{"\$ref":"#\/components\/schemas\/(\w+)"\}$/.exec(JSON.stringify(schema)) ?? []
  if (name !== undefined) return markup`<p><a href="#schema-${name}">${name}</a></p>`
  const short = JSON.stringify(schema)
  const text = short.length > 60 ? JSON.stringify(schema, undefined, 2) : short
  const parts = text.split(/"#\/components\/schemas\/(\w+)"/)
  return markup`<pre>
${parts.map((part, n) => (n % 2 === 0 ? part : markup`<a href="#schema-${part}">${part}</a>`))}</pre>`
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}

/** Descriptions have code between backticks. */
function marked(text: string): Html {
  const parts = text.split(/`([^`]+)`/)
  return markup`${parts.map((part, n) => (n % 2 === 0 ? part : markup`<code>${part}</code>`))}`
}
