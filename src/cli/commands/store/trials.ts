// How to try a server that has just begun, told on stderr.

import { realpathSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { referenceUser } from '../../../defaults.js'
import type { Principal } from '../../../http/index.js'
import { resolvePlace, shownPlace } from '../../config/place.js'
import { printable } from '../../output/figures.js'
import { sampleId } from '../cores/sample.js'

const sampleText = 'Mary Shelley wrote Frankenstein in Geneva.'
const sampleQuestion = 'Who wrote Frankenstein?'

/**
 * How to try it, in lines for a shell that the token they are for may run. A token of the configuration
 * is not repeated.
 */
export function explain(
  origin: string,
  data: string,
  { made, isOpen, tokens, defaultUser, hasInspector, mcp }: Access,
): void {
  const own = callable(origin)
  const principal: Principal = isOpen ? { user: '*' } : ablest([...tokens.values()])
  const lines = [
    `# ${whereText(data)}`,
    ...(hasInspector ? [`# look at it in a browser: ${own}/`] : []),
    ...(mcp === false
      ? []
      : [`# assistants ${mcp === true ? 'read' : 'read and load texts'} at ${own}/mcp`]),
    ...(isOpen
      ? [
          `# OPEN: nobody is asked for a token. Whoever reaches ${origin} reads, changes and deletes`,
          '# everything of every user. Start it without --open for anything that matters. Try it:',
        ]
      : made === undefined
        ? [`# try it, with ${tokenOf(principal)} in LOREKEEP_TOKEN:`]
        : [
            '# no token is configured: this one, good for every user, is made anew at each start',
            `export LOREKEEP_TOKEN=${quote(made)}`,
          ]),
    ...trials(own, principal, { isOpen, defaultUser: defaultUser ?? referenceUser }),
  ]
  process.stderr.write(lines.map((line) => `${line}\n`).join(''))
}

/** Any address is for listening; one of this machine is for calling. */
export function callable(origin: string): string {
  const url = new URL(origin)
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  return url.origin
}

export function whereText(data: string): string {
  return `data in ${shownPlace(resolvePlace('', data))}`
}

interface Access {
  /** The token that was made, where none was given. */
  readonly made: string | undefined
  readonly isOpen: boolean
  readonly hasInspector: boolean
  readonly mcp: boolean | 'write'
  readonly tokens: ReadonlyMap<string, Principal>
  readonly defaultUser: string | undefined
}

/** Who may do most of what there is to try. */
function ablest(principals: readonly Principal[]): Principal {
  const rank = ({ access, collections, user }: Principal) =>
    (access === 'read' ? 0 : 4) +
    (collections === undefined ? 2 : Math.min(collections.length, 1)) +
    (user === '*' ? 0.5 : 0)
  return principals.reduce((best, other) => (rank(other) > rank(best) ? other : best))
}

/** Which of the tokens is meant. */
function tokenOf({ user, collections, access }: Principal): string {
  const whose = user === '*' ? 'that acts for any user' : `of the user ${printable(user)}`
  const names = collections?.map(printable).join(', ') || 'none'
  const where = collections === undefined ? '' : ` (collections: ${names})`
  return `a token ${whose}${where}${access === 'read' ? ', which may only read,' : ''}`
}

function trials(
  origin: string,
  principal: Principal,
  { isOpen, defaultUser }: { readonly isOpen: boolean; readonly defaultUser: string },
): readonly string[] {
  const { access, collections } = principal
  const user = principal.user === '*' ? defaultUser : principal.user
  const api = `${origin}/api/v1`
  const query = new URLSearchParams({ id: sampleId, user })
  const curl = isOpen ? 'curl -sS' : 'curl -sS -H "Authorization: Bearer $LOREKEEP_TOKEN"'
  const mayChange = access !== 'read'
  // Texts and questions go to a collection; of a token for none, to none.
  const collection = collections === undefined ? undefined : collections[0]
  const hasCollection = collections === undefined || collection !== undefined
  const where = [
    ...(collection === undefined ? [] : [`--collection ${quote(collection)}`]),
    `--user ${quote(user)} --url ${quote(origin)}`,
  ].join(' ')
  const own = ownCommand()
  const text = `echo ${quote(sampleText)} | ${own} load - --id urn:lorekeep:text --wait ${where}`
  return [
    mayChange && `${own} sample > sample.core`,
    mayChange && `${curl} -X POST -T sample.core ${quote(`${api}/import-core?${query}`)}; echo`,
    mayChange && hasCollection && text,
    hasCollection && `${own} ask ${quote(sampleQuestion)} ${where}`,
    `${curl} ${quote(`${api}/cores?${new URLSearchParams({ user })}`)}; echo`,
    `${curl} ${quote(`${api}/schemas`)}; echo`,
    mayChange && `${curl} -f -o exported.core ${quote(`${api}/export-core?${query}`)}`,
    mayChange && user === referenceUser && "cmp sample.core exported.core && echo 'the same bytes'",
  ].filter((line) => line !== false)
}

/**
 * What starts this program in another shell: `lorekeep` where that is on the PATH for good (npm
 * puts it there for its own children alone), else this very file.
 */
function ownCommand(): string {
  const script = realpathSync(process.argv[1] ?? '')
  const isOwn = (directory: string) => {
    try {
      return realpathSync(join(directory, 'lorekeep')) === script
    } catch {
      return false
    }
  }
  const { PATH = '', npm_command: npm } = process.env
  if (npm === undefined && PATH.split(delimiter).some(isOwn)) return 'lorekeep'
  const node = basename(process.execPath) === 'node' ? 'node' : quote(process.execPath)
  return `${node} ${quote(script)}`
}

/** For a POSIX shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
