// The command line of schemas, objects and collections.

import { Option } from 'commander'
import type { Command } from 'commander'
import {
  accessAction,
  addAccess,
  example,
  parseCount,
  parseFields,
  parseIndex,
  parseJsonObject,
  parseSort,
  parseText,
  userOption,
} from './options.js'

export function addSchema(program: Command): void {
  const schema = program.command('schema').description('Define, list and show schemas of objects.')
  addAccess(schema)
    .option('--json', 'print JSON on stdout, one schema per line')
    .addHelpText('after', example('lorekeep schema define product.json'))
  schema
    .command('define')
    .description('define or change schemas')
    .argument('<file>', "a definition or an array of them, in JSON; '-' for stdin")
    .action(
      accessAction(async () => (await import('../commands/objects/schemas.js')).defineSchemas),
    )
  schema
    .command('list', { isDefault: true })
    .description(
      "list the schemas; without a terminal: name, number of fields, the field of the id, 'strict' or 'open', indexes, separated by tabs",
    )
    .action(accessAction(async () => (await import('../commands/objects/schemas.js')).listSchemas))
  schema
    .command('show')
    .description('print a schema, in a form that define takes')
    .argument('<name>', 'the schema', parseText)
    .action(accessAction(async () => (await import('../commands/objects/schemas.js')).showSchema))
}

export function addObjects(program: Command): void {
  const objects = program.command('objects').description('Import and query objects.')
  addAccess(objects)
    .addOption(
      new Option(
        '--flow <id>',
        'the flow whose paths of the server are used (default: default)',
      ).argParser(parseText),
    )
    .option('--json', 'print JSON on stdout')
    .addHelpText(
      'after',
      example('lorekeep objects import products.ndjson --schema product --collection shop'),
    )
  addObjectImport(objects)
  addQueryFlags(objects.command('query').description('print the objects that match'))
    .option('--all', 'every match, not a page of them')
    .option('--ndjson', 'one object per line, as JSON')
    .action(
      accessAction(async () => (await import('../commands/objects/object-query.js')).queryObjects),
    )
  addQueryFlags(objects.command('explain').description('run a query, and say how')).action(
    accessAction(async () => (await import('../commands/objects/object-explain.js')).explainQuery),
  )
}

function addObjectImport(objects: Command): void {
  objects
    .command('import')
    .description('import any number of objects, less those that are refused')
    .argument(
      '<file>',
      "NDJSON, an array, an import request, or the report of an import; '-' for stdin",
    )
    .option('--schema <name>', 'what they conform to', parseText)
    .option('--collection <name>', 'where they go', parseText)
    .addOption(userOption('who imports them'))
    .option('--id <id>', 'the name of the import (default: a random one)', parseText)
    .option('--metadata <json>', 'an object that is stored with each of them', parseJsonObject)
    .addOption(
      new Option('--batch <count>', 'so many are stored at once, all of them or none')
        .argParser(parseCount)
        .default(1000),
    )
    .addOption(
      new Option('--on-duplicate <what>', 'what to do with an object whose id there is already')
        .choices(['reject', 'replace', 'skip'])
        .default('reject'),
    )
    .addOption(
      new Option('--skip <count>', 'pass over so many objects, and add to the report')
        .argParser(parseIndex)
        .default(0),
    )
    .option(
      '--report <file>',
      'where refused objects go (default: FILE.refused.ndjson, for stdin lorekeep-refused.ndjson)',
      parseText,
    )
    .action(
      accessAction(
        async () => (await import('../commands/objects/object-import.js')).importObjects,
      ),
    )
}

function addQueryFlags(command: Command): Command {
  return command
    .requiredOption('--schema <name>', 'the schema of the objects', parseText)
    .option('--filter <json>', 'such as \'{"price":{"$gt":100}}\'', parseJsonObject)
    .option('--sort <fields>', 'such as price:desc,name', parseSort)
    .option('--limit <count>', 'how many (default: 100)', parseIndex)
    .option('--offset <count>', 'pass over so many', parseIndex)
    .option('--after <cursor>', 'go on where a page ended', parseText)
    .option('--fields <fields>', 'print these alone, such as name,price', parseFields)
}

export function addCollections(program: Command): void {
  const collections = program
    .command('collections')
    .description('List and delete collections of objects.')
  addAccess(collections)
    .option('--json', 'print JSON on stdout, one collection per line')
    .addHelpText('after', example('lorekeep collections delete shop'))
  collections
    .command('list', { isDefault: true })
    .description(
      'list the collections; without a terminal: name, objects, time of its making, schemas, separated by tabs',
    )
    .action(
      accessAction(
        async () => (await import('../commands/objects/collections.js')).listCollections,
      ),
    )
  collections
    .command('delete')
    .description('delete a collection with every object in it')
    .argument('<name>', 'the collection', parseText)
    .action(
      accessAction(
        async () => (await import('../commands/objects/collections.js')).deleteCollection,
      ),
    )
}
