// The command line of flows, and of the documents in them.

import { Option } from 'commander'
import type { Command } from 'commander'
import {
  accessAction,
  addAccess,
  example,
  jobStates,
  configOption,
  ownedAction,
  parseCount,
  parseExtensions,
  parseStates,
  parseText,
  parseTexts,
  parseTime,
  userOption,
} from './options.js'

const fileExtensions = [
  ...['.txt', '.md', '.markdown', '.html', '.htm', '.xhtml'],
  ...['.pdf', '.docx', '.epub', '.csv', '.tsv', '.json', '.jsonl'],
]

export function addLoad(program: Command): void {
  const load = program
    .command('load')
    .description('Load texts and files into a flow, which makes a knowledge core of each.')
    .argument(
      '<file...>',
      "texts, Markdown, HTML, PDF, DOCX, EPUB, CSV, JSON, or directories of them; '-' for stdin",
    )
    .addOption(flowOption('the flow'))
    .option(
      '--id <id>',
      "the document, and its core (default: the file's URL; of a file in a directory, the path from there)",
      parseText,
    )
    .addOption(
      new Option('--ext <extensions>', 'of directories, the files that end in one of these')
        .argParser(parseExtensions)
        .default(fileExtensions, fileExtensions.join()),
    )
    .addOption(userOption('whose'))
    .option('--collection <name>', 'of its knowledge (default: default)', parseText)
    .addOption(
      new Option('--charset <label>', "of the texts; 'auto' looks at each of them")
        .argParser(parseText)
        .default('auto'),
    )
  load.option('--title <text>', 'what the text is called; of one file alone', parseText)
  for (const name of ['creator', 'subject', 'description', 'date', 'language']) {
    load.option(`--${name} <text>`, `says so in its metadata; may be given again`, parseTexts)
  }
  load
    .option('--metadata <file>', 'more metadata: a JSON array of triples', parseText)
    .addOption(configOption('defaultUser, base, limits and collections'))
    .option('--wait', 'until they are done; without --url, process them here')
    .option('--json', 'print a line of JSON for each on stdout')
  addAccess(load)
    .addHelpText('after', example("lorekeep load news.txt --title 'News from Nowhere' --wait"))
    .action(ownedAction(async () => (await import('../commands/flows/load.js')).loadFiles))
}

export function addFlows(program: Command): void {
  const flows = program.command('flows').description('List, define, start and stop flows.')
  addAccess(flows)
    .option('--json', 'print JSON on stdout, one flow per line')
    .addHelpText('after', example('lorekeep flows define flow.json'))
  flows
    .command('list', { isDefault: true })
    .description(
      'list the flows; without a terminal: id, state, documents that are queued, active, delayed, done and dead, steps, separated by tabs',
    )
    .action(accessAction(async () => (await import('../commands/flows/flows.js')).listFlows))
  flows
    .command('show')
    .description('print a flow, in a form that define takes')
    .argument('<id>', 'the flow', parseText)
    .action(accessAction(async () => (await import('../commands/flows/flows.js')).showFlow))
  flows
    .command('define')
    .description('define or change flows')
    .argument('<file>', "a definition or an array of them, in JSON; '-' for stdin")
    .action(accessAction(async () => (await import('../commands/flows/flows.js')).defineFlows))
  for (const [name, work, description] of [
    ['start', 'startFlow', 'let a flow take documents, and process them'],
    ['stop', 'stopFlow', 'refuse new documents, and leave alone those that wait'],
  ] as const) {
    flows
      .command(name)
      .description(description)
      .argument('<id>', 'the flow', parseText)
      .action(accessAction(async () => (await import('../commands/flows/flows.js'))[work]))
  }
  flows
    .command('remove')
    .description('remove a flow that holds no documents')
    .argument('<id>', 'the flow', parseText)
    .action(accessAction(async () => (await import('../commands/flows/flows.js')).removeFlow))
}

export function addJobs(program: Command): void {
  const jobs = program
    .command('jobs')
    .description("List, show, retry and cancel a flow's jobs: documents on their way.")
  addAccess(jobs.addOption(flowOption('whose jobs')))
    .option('--json', 'print JSON on stdout, one job per line')
    .addHelpText('after', example('lorekeep jobs --flow default --state dead'))
  const list = jobs
    .command('list', { isDefault: true })
    .description(
      'list jobs; without a terminal: job, state, attempts, document, user, time of the last change, steps that are done, separated by tabs',
    )
  addSelection(list)
    .addOption(
      new Option('--order <order>', "'desc' has the newest first")
        .choices(['asc', 'desc'])
        .default('desc'),
    )
    .addOption(new Option('--limit <count>', 'at most so many').argParser(parseCount).default(100))
    .option('--after <cursor>', 'those behind a list that ended there', parseText)
    .action(accessAction(async () => (await import('../commands/flows/jobs.js')).listJobs))
  jobs
    .command('show')
    .description('show what is known of a job, its failures too')
    .argument('<job>', 'the job', parseText)
    .action(accessAction(async () => (await import('../commands/flows/jobs.js')).showJob))
  const retry = jobs
    .command('retry')
    .description('queue a dead letter again, or all that match; they go on at the step that failed')
    .argument('[job]', 'the job', parseText)
  addSelection(retry)
    .option('--all', 'all that are dead or delayed')
    .addHelpText('after', example('lorekeep jobs retry --state dead --error timeout'))
    .action(accessAction(async () => (await import('../commands/flows/jobs.js')).retryJobs))
  const cancel = jobs
    .command('cancel')
    .description('take a job away, whatever waits or runs of it, or all that match')
    .argument('[job]', 'the job', parseText)
  addSelection(cancel)
    .option('--all', 'all that are not done')
    .addHelpText('after', example('lorekeep jobs cancel --state queued --user alice'))
    .action(accessAction(async () => (await import('../commands/flows/jobs.js')).cancelJobs))
}

/** Which jobs. */
function addSelection(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--state <states>',
        'those in this state, or in one of several with commas between',
      )
        .choices(jobStates)
        .argParser(parseStates),
    )
    .option('--document <id>', 'those of this document', parseText)
    .option('--collection <name>', 'those of documents in this collection', parseText)
    .option('--user <user>', 'those of this user (also: LOREKEEP_USER)', parseText)
    .option('--error <text>', 'those whose last failure says so', parseText)
    .option('--created-from <time>', 'those that came then or later', parseTime)
    .option('--created-to <time>', 'those that came before', parseTime)
    .option('--updated-from <time>', 'those that changed last then or later', parseTime)
    .option('--updated-to <time>', 'those that changed last before', parseTime)
}

export function addDocuments(program: Command): void {
  const documents = program
    .command('documents')
    .description('List documents, show what became of one, or remove it.')
  addAccess(documents.addOption(flowOption('whose paths of the server are used')))
    .addOption(userOption('whose'))
    .option('--json', 'print JSON on stdout')
    .addHelpText('after', example('lorekeep documents show file:///srv/news.txt'))
  documents
    .command('list', { isDefault: true })
    .description(
      'list the documents that are done; without a terminal: id, flow, collection, time, separated by tabs',
    )
    .option('--prefix <text>', 'those whose ids begin so', parseText)
    .option('--collection <name>', 'those in this collection', parseText)
    .option('--completed-from <time>', 'those that were done then or later', parseTime)
    .option('--completed-to <time>', 'those that were done before', parseTime)
    .addOption(new Option('--limit <count>', 'at most so many').argParser(parseCount).default(1000))
    .option('--after <cursor>', 'those behind a list that ended there', parseText)
    .action(ownedAction(async () => (await import('../commands/flows/documents.js')).listDocuments))
  documents
    .command('show')
    .description('show its jobs, and when it was done')
    .argument('<id>', 'the document', parseText)
    .action(ownedAction(async () => (await import('../commands/flows/documents.js')).showDocument))
  documents
    .command('remove')
    .description('remove its jobs, its core and its objects')
    .argument('<id>', 'the document', parseText)
    .action(
      ownedAction(async () => (await import('../commands/flows/documents.js')).removeDocument),
    )
}

function flowOption(what: string): Option {
  return new Option('--flow <id>', `${what} (default: default)`).argParser(parseText)
}
