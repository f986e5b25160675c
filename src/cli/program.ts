// The command line: what there is to say, and what it means.

import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { encodeMessage } from '../codec/encoder.js'
import { isToken, tokenRule } from './config.js'
import type { AccessOptions } from './open-cores.js'
import { deleteCore, listCores, showCore } from './cores.js'
import type { CoresOptions } from './cores.js'
import { exportCore } from './export.js'
import type { ExportCommandOptions } from './export.js'
import { interruptible, UsageError } from './failure.js'
import { importCore } from './import.js'
import type { ImportCommandOptions } from './import.js'
import { refuseTerminal, writeOut } from './output.js'
import { sampleId, sampleMessages, sampleUser } from './sample.js'
import { serve } from './serve.js'
import type { ServeOptions } from './serve.js'

const defaultData = './lorekeep-data'

export function createProgram(): Command {
  const program = new Command('lorekeep')
    .description(
      'An embeddable knowledge store: knowledge cores in and out as MessagePack streams.',
    )
    .version(version())
    .option('--debug', 'print stack traces of errors (also: LOREKEEP_DEBUG=1)')
    // Before the commands: they inherit it.
    .exitOverride()
    .configureOutput({
      // One line, with its "(Did you mean …?)".
      outputError: (text, write) => {
        write(
          `${text
            .trim()
            .replace(/^error: /, 'lorekeep: ')
            .replaceAll('\n', ' ')}\n`,
        )
      },
    })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', example('lorekeep sample | lorekeep import - --id books'))
  addServe(program)
  addImport(program)
  addExport(program)
  addCores(program)
  addSample(program)
  return program
}

function addServe(program: Command): void {
  program
    .command('serve')
    .description('Serve the HTTP interface over a data directory until SIGINT or SIGTERM.')
    .option('--config <file>', 'a JSON file; the flags below win over it')
    .option('--host <host>', 'the address to listen on (default: 127.0.0.1)', parseText)
    .option('--port <port>', 'the port; 0 picks a free one (default: 8088)', parsePort)
    .option('--data <dir>', `the data directory (default: ${defaultData})`, parseText)
    .option(
      '--token <token=user>',
      "let this token act for this user, '*' for any; may be given again. Other users of the machine see it in the list of processes: better put it in the config file",
      parseTokenOfUser,
    )
    .addOption(
      new Option('--stop-timeout <seconds>', 'how long a stop waits for requests under way')
        .default(10_000, '10')
        .argParser(parseSeconds),
    )
    .addHelpText('after', example('lorekeep serve --port 0 --token secret-1=alice'))
    .action(async ({ stopTimeout, ...options }: ServeFlags) => {
      await serve({ ...options, stopTimeoutMs: stopTimeout })
    })
}

interface ServeFlags extends Omit<ServeOptions, 'stopTimeoutMs'> {
  readonly stopTimeout: number
}

function addImport(program: Command): void {
  const command = program
    .command('import')
    .description('Import a core stream: all of it or, after any error, nothing.')
    .argument('<file>', "the file, or '-' for stdin")
    .option('--id <id>', 'the core (default: the name of the file without .core)', parseText)
    .addOption(userOption())
    .addOption(
      new Option('--mode <mode>', 'add to a core that exists, or put this in its place')
        .choices(['append', 'replace'])
        .default('append'),
    )
    .option('--allow-empty', 'take an empty input for an empty core')
    .option('--json', 'print the summary as JSON on stdout')
  addAccess(command)
    .addHelpText('after', example('lorekeep import books.core --id urn:books --user alice'))
    .action(async (file: string, _options: unknown, command: Command) => {
      await importCore(file, accessOptions<ImportCommandOptions>(command))
    })
}

function addExport(program: Command): void {
  const command = program
    .command('export')
    .description('Export a core to stdout, or to a file that is there only when it is whole.')
    .addOption(idOption())
    .addOption(userOption())
    .option('-o, --output <file>', "the file, or '-' for stdout", parseText)
  addAccess(command)
    .addHelpText('after', example('lorekeep export --id urn:books --user alice -o books.core'))
    .action(async (_options: unknown, command: Command) => {
      await exportCore(accessOptions<ExportCommandOptions>(command))
    })
}

function addCores(program: Command): void {
  const cores = program.command('cores').description('List, show and delete cores.')
  addAccess(cores.addOption(userOption()))
    .option('--json', 'print JSON on stdout, one object per line')
    .addHelpText('after', example('lorekeep cores --user alice --json'))
  cores
    .command('list', { isDefault: true })
    .description(
      "list a user's cores; without a terminal: id, messages, triples, entities, bytes, time of the last import, separated by tabs",
    )
    .action(async (_options: unknown, command: Command) => {
      await listCores(accessOptions<CoresOptions>(command))
    })
  cores
    .command('show')
    .description('show what is known of a core')
    .argument('<id>', 'the core', parseText)
    .action(async (id: string, _options: unknown, command: Command) => {
      await showCore(id, accessOptions<CoresOptions>(command))
    })
  cores
    .command('delete')
    .description('delete a core')
    .argument('<id>', 'the core', parseText)
    .action(async (id: string, _options: unknown, command: Command) => {
      await deleteCore(id, accessOptions<CoresOptions>(command))
    })
}

function addSample(program: Command): void {
  program
    .command('sample')
    .description(
      `Write a core stream to try things with to stdout: core ${sampleId}, user ${sampleUser}.`,
    )
    .option('--triples <count>', 'as many triples of an imaginary library', parseCount)
    .addHelpText('after', example('lorekeep sample --triples 1000000 > big.core'))
    .action(async (options: { readonly triples?: number }) => {
      refuseTerminal('redirect stdout')
      await interruptible(async (signal) => {
        for (const message of sampleMessages(options)) {
          signal.throwIfAborted()
          await writeOut(encodeMessage(message))
        }
      })
    })
}

/** Where the cores are: in a directory, or behind a server. */
function addAccess(command: Command): Command {
  return command
    .addOption(
      new Option('--data <dir>', 'the data directory').default(defaultData).argParser(parseText),
    )
    .addOption(
      new Option('--url <url>', 'a running server, instead of a data directory')
        .argParser(parseUrl)
        .conflicts('data'),
    )
    .option('--token <token>', 'the token for the server (also: LOREKEEP_TOKEN)', parseToken)
}

/** All options of a command, its parents' too. @throws UsageError */
function accessOptions<O extends AccessOptions>(command: Command): O {
  const options = command.optsWithGlobals<O>()
  if (options.url === undefined) {
    if (options.token === undefined) return options
    throw new UsageError('--token is for a server: --url is missing')
  }
  // Not commander's env(): a variable that is set and empty, or wrong, is no business of a run
  // without a server.
  const { token = process.env['LOREKEEP_TOKEN'] ?? '' } = options
  if (token === '' || isToken(token)) return token === '' ? options : { ...options, token }
  throw new UsageError(`LOREKEEP_TOKEN holds no token; a token is ${tokenRule}`)
}

const idOption = () =>
  new Option('--id <id>', 'the core').argParser(parseText).makeOptionMandatory()

const userOption = () =>
  new Option('--user <user>', 'whose core').argParser(parseText).default(sampleUser)

// One parser per kind of value

function parseText(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.')
  return text
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('A port is a number from 0 to 65535.')
}

function parseSeconds(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text) * 1000
  throw new InvalidArgumentError('It is a number of seconds, such as 10 or 0.5.')
}

function parseCount(text: string): number {
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('It is a positive integer.')
}

function parseToken(text: string): string {
  if (isToken(text)) return text
  throw new InvalidArgumentError(`A token is ${tokenRule}.`)
}

/** The last `=` divides: tokens in base64 end in some of their own. */
function parseTokenOfUser(
  text: string,
  previous: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const at = text.lastIndexOf('=')
  const [token, user] = [text.slice(0, at), text.slice(at + 1)]
  if (at > 0 && isToken(token) && user !== '') return new Map([...previous, [token, user]])
  throw new InvalidArgumentError(`It is TOKEN=USER, and a token is ${tokenRule}.`)
}

function parseUrl(text: string): URL {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) {
    const url = new URL(text)
    if (url.search === '' && url.hash === '' && url.username === '') return url
  }
  throw new InvalidArgumentError('It is like http://127.0.0.1:8088.')
}

function example(line: string): string {
  return `\nExample:\n  $ ${line}`
}

/** Of the package; this file is dist/src/cli/program.js in it. */
function version(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
