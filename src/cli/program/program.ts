// The command line: what there is to say, and what it means. What a command needs is loaded when it
// runs: --help takes 120 ms, where loading everything takes 330.

import { Argument, Command, Option } from 'commander'
import { referenceUser } from '../../defaults.js'
import type { Shell } from '../commands/completion.js'
import { addMcp } from './assistant-program.js'
import { addDocuments, addFlows, addJobs, addLoad } from './flow-program.js'
import {
  addAsk,
  addDuplicates,
  addIndex,
  addMatch,
  addMerge,
  addNearest,
  addSearch,
  addSparql,
  addSplit,
} from './graph-program.js'
import { addCollections, addObjects, addSchema } from './object-program.js'
import {
  accessAction,
  addAccess,
  defaultData,
  example,
  ownedAction,
  parseCount,
  parsePort,
  parseSeconds,
  parseText,
  parseTexts,
  parseTime,
  parseTokenOfUser,
  userOption,
} from './options.js'
import { exportDialects, importDialects } from '../../codec/dialects/names.js'
import { didYouMean } from '../../door/nearest.js'
import { rdfFormats, syntaxes } from '../../rdf/format.js'
import { version } from '../../version.js'
import { usageReport } from '../output/report.js'
import type { RestoreCommandOptions } from '../commands/store/restore.js'
import { printSample, sampleId } from '../commands/cores/sample.js'
import type { ServeOptions } from '../commands/store/serve.js'
import type { VerifyCommandOptions } from '../commands/store/verify.js'

export function createProgram(): Command {
  const program = new Command('lorekeep')
    .description(
      'An embeddable knowledge store: knowledge cores as MessagePack streams, objects as JSON, flows that make knowledge of texts.',
    )
    .version(version)
    .option('--debug', 'print stack traces of errors (also: LOREKEEP_DEBUG=1)')
    // Before the commands: they inherit it.
    .exitOverride()
    .configureOutput({
      // One line, with its "(Did you mean …?)".
      outputError: (text, write) => write(usageReport(text)),
    })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', example('lorekeep sample | lorekeep import - --id books'))
  addServe(program)
  addImport(program)
  addExport(program)
  addCores(program)
  addMatch(program)
  addNearest(program)
  addAsk(program)
  addSearch(program)
  addDuplicates(program)
  addMerge(program)
  addSplit(program)
  addSparql(program)
  addIndex(program)
  addLoad(program)
  addFlows(program)
  addJobs(program)
  addDocuments(program)
  addSchema(program)
  addObjects(program)
  addCollections(program)
  addBackup(program)
  addRestore(program)
  addVerify(program)
  addMcp(program)
  addSample(program)
  addCompletion(program)
  for (const group of program.commands) refuseUnknown(group)
  // Others have it, and what is nearest to it here is `verify`.
  program.command('version', { hidden: true }).action(() => {
    program.error("error: unknown command 'version': lorekeep --version prints it")
  })
  return program
}

/** A group that lists by default would take an unknown command for an argument of its list. */
function refuseUnknown(group: Command): void {
  const list = group.commands.find((command) => command.name() === 'list')
  if (list === undefined) return
  list.allowExcessArguments(true)
  group.hook('preAction', (_group, action) => {
    if (action !== list || list.args.length === 0) return
    const [name = ''] = group.args
    if (name === list.name()) {
      group.error(`error: too many arguments for 'list': ${list.args.join(' ')}`)
    }
    const names = group.commands.map((command) => command.name())
    group.error(`error: unknown command '${name}'${didYouMean(name, names)}`)
  })
}

function addServe(program: Command): void {
  program
    .command('serve')
    .description('Serve the HTTP interface over a data directory until SIGINT or SIGTERM.')
    .option('--config <file>', 'a JSON file; the flags below win over it')
    .option('--host <host>', 'the address to listen on (default: 127.0.0.1)', parseText)
    .option('--port <port>', 'the port; 0 picks a free one (default: 8088)', parsePort)
    .option(
      '--data <dir>',
      `the data directory (default: ${defaultData}; also: LOREKEEP_DATA)`,
      parseText,
    )
    .option(
      '--token <token=user>',
      "let this token act for this user, '*' for any; may be given again. Other users of the machine see it in the list of processes: better put it in the config file",
      parseTokenOfUser,
    )
    .option('--open', 'ask nobody for a token, as clients of the reference system expect')
    .option('--force', 'with --open: also on an address that other machines reach')
    .option('--no-inspector', 'without the page to look at what is stored')
    .option('--open-browser', 'open that page')
    .addOption(
      new Option(
        '--mcp [write]',
        'answer assistants at /mcp by the Model Context Protocol: what is stored is read, with "write" texts are also loaded',
      ).choices(['write']),
    )
    .addOption(
      new Option(
        '--log [format]',
        'a line on stderr for each request and each document, and what indexes are made of: JSON, or text (the default on a terminal)',
      ).choices(['json', 'text']),
    )
    .addOption(
      new Option('--stop-timeout <seconds>', 'how long a stop waits for requests under way')
        .default(10_000, '10')
        .argParser(parseSeconds),
    )
    .addHelpText('after', example('lorekeep serve --port 0 --token secret-1=alice'))
    .action(async ({ stopTimeout, ...options }: ServeFlags) => {
      const { serve } = await import('../commands/store/serve.js')
      await serve({ ...options, stopTimeoutMs: stopTimeout })
    })
}

interface ServeFlags extends Omit<ServeOptions, 'stopTimeoutMs'> {
  readonly stopTimeout: number
}

function addImport(program: Command): void {
  const command = program
    .command('import')
    .description(
      'Import a core stream, or RDF: all of it or, after any error, nothing. Or a workspace of the reference system (.tgx): its graphs as cores, its texts as documents. Or a memory file (.jsonl) of the reference memory server for assistants.',
    )
    .argument('<file>', "the file, or '-' for stdin")
    .option(
      '--id <id>',
      'the core (default: the name of the file without .core or its extension of RDF)',
      parseText,
    )
    .addOption(userOption('whose core'))
    .addOption(
      formatOption('what it is (default: by the extension of the file, or core)', 'tgx', 'memory'),
    )
    .addOption(
      new Option(
        '--loss <what>',
        'what becomes of the languages, datatypes and graphs of RDF (default: keep)',
      ).choices(['keep', 'drop', 'reify', 'refuse']),
    )
    .addOption(
      new Option(
        '--dialect <name>',
        'which dialects of core streams are read (default: any)',
      ).choices(importDialects),
    )
    .option(
      '--base <iri>',
      'what relative IRIs of RDF are relative to, or what URIs of a memory file begin with',
      parseText,
    )
    .option(
      '--collection <name>',
      'of what comes from RDF, or of the documents of a workspace (default: default)',
      parseText,
    )
    .option('--flow <id>', 'of a workspace: load its texts into this flow', parseText)
    .addOption(
      new Option('--mode <mode>', 'add to a core that exists, or put this in its place')
        .choices(['append', 'replace'])
        .default('append'),
    )
    .option('--index', 'index it for questions: in the same pass, or soon where it is little')
    .option('--allow-empty', 'take an empty input for an empty core')
    .option('--json', 'print the summary as JSON on stdout')
  addAccess(command)
    .addHelpText('after', example('lorekeep import books.core --id urn:books --user alice'))
    .action(ownedAction(async () => (await import('../commands/cores/import-file.js')).importFile))
}

function addExport(program: Command): void {
  const command = program
    .command('export')
    .description('Export a core to stdout, or to a file that is there only when it is whole.')
    .addOption(idOption())
    .addOption(userOption('whose core'))
    .addOption(formatOption('what to write (default: by the extension of the file, or core)'))
    .addOption(
      new Option(
        '--dialect <name>',
        'of a core stream: trustgraph-2 is read by TrustGraph 2 (default: specification)',
      ).choices(exportDialects),
    )
    .option('-o, --output <file>', "the file, or '-' for stdout", parseText)
  addAccess(command)
    .addHelpText('after', example('lorekeep export --id urn:books --user alice -o books.core'))
    .action(ownedAction(async () => (await import('../commands/cores/export.js')).exportCore))
}

function addCores(program: Command): void {
  const cores = program.command('cores').description('List, show and delete cores.')
  addAccess(cores.addOption(userOption('whose core')))
    .option('--json', 'print JSON on stdout, one object per line')
    .addHelpText('after', example('lorekeep cores --user alice --json'))
  cores
    .command('list', { isDefault: true })
    .description(
      "list a user's cores; without a terminal: id, messages, triples, entities, bytes, time of the last import, separated by tabs",
    )
    .option('--prefix <text>', 'those whose ids begin so', parseText)
    .option('--created-from <time>', 'those that came into being then or later', parseTime)
    .option('--created-to <time>', 'those that came into being before', parseTime)
    .option('--updated-from <time>', 'those that changed last then or later', parseTime)
    .option('--updated-to <time>', 'those that changed last before', parseTime)
    .option('--limit <count>', 'at most so many', parseCount)
    .action(ownedAction(async () => (await import('../commands/cores/cores.js')).listCores))
  cores
    .command('show')
    .description('show what is known of a core')
    .argument('<id>', 'the core', parseText)
    .action(ownedAction(async () => (await import('../commands/cores/cores.js')).showCore))
  cores
    .command('delete')
    .description('delete a core')
    .argument('<id>', 'the core', parseText)
    .action(ownedAction(async () => (await import('../commands/cores/cores.js')).deleteCore))
}

function addBackup(program: Command): void {
  const command = program
    .command('backup')
    .description('Back up everything to a file that is there only when it is whole, or to stdout.')
    .argument('<file>', "the file, or '-' for stdout", parseText)
    .option('--json', 'print the summary as JSON on stdout')
  addAccess(command)
    .addHelpText('after', example('lorekeep backup monday.lorekeep --url http://127.0.0.1:8088'))
    .action(accessAction(async () => (await import('../commands/store/backup.js')).backUp))
}

function addRestore(program: Command): void {
  program
    .command('restore')
    .description('Restore a backup into a directory that holds nothing: all of it, or nothing.')
    .argument('<file>', "the backup, or '-' for stdin", parseText)
    .argument('<dir>', 'the data directory, which is made', parseText)
    .option('--json', 'print the summary as JSON on stdout')
    .addHelpText('after', example('lorekeep restore monday.lorekeep ./lorekeep-data'))
    .action(async (file: string, directory: string, options: RestoreCommandOptions) => {
      const { restoreBackup } = await import('../commands/store/restore.js')
      await restoreBackup(file, directory, options)
    })
}

function addVerify(program: Command): void {
  program
    .command('verify')
    .description(
      'Look for what is damaged or does not fit in a data directory, without changing it: a line each. Exits with 1 where an error was found, with 2 where it could not look.',
    )
    .usage('[options] DIR\n       lorekeep verify --salvage [options] DIR TARGET')
    .argument(
      '[places...]',
      'DIR, the data directory, and with --salvage TARGET, a directory that is not there, or empty',
      parseTexts,
    )
    .option('--data <dir>', 'the data directory, in place of DIR (also: LOREKEEP_DATA)', parseText)
    .option('--deep', 'read all content, too: texts, objects, segments; indexes are made anew')
    .option('--salvage', 'write what is whole of a damaged store to the target')
    .option('--json', 'print findings as JSON, one object per line')
    .addHelpText(
      'after',
      example('lorekeep verify ./lorekeep-data --deep') +
        example('lorekeep verify --salvage ./lorekeep-data ./salvaged'),
    )
    .action(async (places: readonly string[] | undefined, options: VerifyCommandOptions) => {
      const { verifyDirectory } = await import('../commands/store/verify.js')
      await verifyDirectory(places ?? [], options)
    })
}

function addSample(program: Command): void {
  program
    .command('sample')
    .description(
      `Write a core stream to try things with to stdout: core ${sampleId}, user ${referenceUser}.`,
    )
    .option('--triples <count>', 'as many triples of an imaginary library', parseCount)
    .addHelpText('after', example('lorekeep sample --triples 1000000 > big.core'))
    .action(async (options: { readonly triples?: number }) => {
      await printSample(options)
    })
}

function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('Print a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      example('lorekeep completion bash > ~/.local/share/bash-completion/completions/lorekeep'),
    )
    .action(async (shell: Shell) => {
      const { printCompletion } = await import('../commands/completion.js')
      await printCompletion(shell, program)
    })
}

const formatOption = (description: string, ...others: readonly string[]) => {
  const names = rdfFormats.flatMap((format) => [format, ...syntaxes[format].aliases])
  return new Option('--format <format>', description).choices(['core', ...names, ...others])
}

const idOption = () =>
  new Option('--id <id>', 'the core').argParser(parseText).makeOptionMandatory()
