// What asks a server the same from elsewhere.

interface Request {
  readonly question: string
  readonly entities: number
  /** Of the page. */
  readonly origin: string
  /** Where the routes are: `/api/v1`, with what the server is mounted under in front, or any other. */
  readonly prefix: string
  readonly user: string
  /** Whether the token is for any user, so that the request has to say whose. */
  readonly isNamed: boolean
  /** What is asked, where the token is for some collections. */
  readonly collection: string | undefined
  readonly hasToken: boolean
}

interface Lines {
  readonly curl: string
  readonly client: string
  /** `undefined` where the routes are elsewhere than commands look for them. */
  readonly command: string | undefined
}

const usual = '/api/v1'

/** The token is in LOREKEEP_TOKEN, as the server prints it, and never in what is copied. */
export function linesOf(request: Request): Lines {
  const { question, entities, origin, prefix, user, isNamed, collection, hasToken } = request
  const query = isNamed ? `?user=${encodeURIComponent(user)}` : ''
  const asked = { text: question, entities }
  const limited = collection === undefined ? {} : { collection }
  const scope = Object.entries({ user, ...limited }).map(
    ([name, value]) => `${name}: ${JSON.stringify(value)}`,
  )
  const isUsual = prefix.endsWith(usual)
  const url = isUsual ? origin + prefix.slice(0, -usual.length) : origin
  const options = [
    `url: ${JSON.stringify(url)}`,
    ...(isUsual ? [] : [`prefix: ${JSON.stringify(prefix)}`]),
    ...(hasToken ? ['token: process.env.LOREKEEP_TOKEN'] : []),
  ]
  const curl = [
    `curl ${quoted(`${origin}${prefix}/graph/retrieve${query}`)}`,
    ...(hasToken ? ['  -H "Authorization: Bearer $LOREKEEP_TOKEN"'] : []),
    "  -H 'Content-Type: application/json'",
    `  -d ${quoted(JSON.stringify({ ...asked, ...limited }))}`,
  ].join(' \\\n')
  const client = [
    "import { connect } from 'lorekeep/client'",
    '',
    `const keep = connect({ ${options.join(', ')} })`,
    `const graph = keep.knowledge.graph({ ${scope.join(', ')} })`,
    `const { sources } = await graph.retrieve(${JSON.stringify(asked)})`,
  ].join('\n')
  const named = [
    isNamed ? ` --user ${quoted(user)}` : '',
    collection === undefined ? '' : ` --collection ${quoted(collection)}`,
  ].join('')
  // Behind `--` a question may begin with a dash.
  const command = `lorekeep ask --url ${quoted(url)}${named} --entities ${entities} -- ${quoted(question)}`
  return { curl, client, command: isUsual ? command : undefined }
}

/** For a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
