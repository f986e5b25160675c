// The command line of questions to cores.

import { Option } from 'commander'
import type { Command } from 'commander'
import {
  addAccess,
  example,
  configOption,
  ownedAction,
  parseCount,
  parseDepth,
  parseModelUrl,
  parsePairs,
  parseShare,
  parseText,
  parseLanguages,
  parseTexts,
  userOption,
} from './options.js'
import { parseGraph, parseTerm, parseValue, termSyntax } from '../output/term.js'

export function addMatch(program: Command): void {
  const match = program
    .command('match')
    .description(
      'Print the triples of a pattern, each once: as lines of N-Triples, those in a named graph of N-Quads.',
    )
    .option('--s <term>', 'the subject', parseTerm)
    .option('--p <term>', 'the predicate', parseTerm)
    .option('--o <term>', 'the object', parseTerm)
    .option('--g <iri>', 'the named graph', parseGraph)
    .addOption(
      comparison('gt', 'an object above this: a number, a date such as 2000-01-31, "text"'),
    )
    .addOption(comparison('gte', 'this or above'))
    .addOption(comparison('lt', 'below this'))
    .addOption(comparison('lte', 'this or below'))
    .addOption(new Option('--default-graph', 'only what is in no named graph').conflicts('g'))
  addScope(match)
    .option('--limit <count>', 'at most so many (default: all)', parseCount)
    .option('--count', 'print how many there are instead')
    .option('--json', 'print JSON on stdout, one triple per line')
  addAccess(match)
    .addHelpText('after', termSyntax)
    .addHelpText('after', example('lorekeep match --p https://schema.org/author --limit 10'))
    .action(ownedAction(async () => (await import('../commands/graph/match.js')).matchTriples))
}

export function addNearest(program: Command): void {
  const nearest = program
    .command('nearest')
    .description(
      'Print the entities with the nearest vectors: score, entity and core, separated by tabs without a terminal.',
    )
    .option('--vector <file>', "a JSON array of numbers; '-' for stdin", parseText)
    .addOption(
      new Option('--text <text>', 'near to this, in words')
        .argParser(parseText)
        .conflicts('vector'),
    )
    .addOption(new Option('-k <count>', 'how many').argParser(parseCount).default(10))
    .option('--exact', 'compare with every vector, also where there is an approximate index')
    .addOption(configOption('embedder'))
  addScope(nearest).option('--json', 'print JSON on stdout, one entity per line')
  addAccess(nearest)
    .addHelpText('after', example("lorekeep nearest --text 'a novel about a whale' -k 3"))
    .action(ownedAction(async () => (await import('../commands/graph/nearest.js')).findNearest))
}

export function addAsk(program: Command): void {
  const ask = program
    .command('ask')
    .description(
      'Print what cores have about a question: the passages and triples that fit it best, or with --all the nearest entities as a tree, with everything around them. With --model an answer of that, with the passages that it cites.',
    )
    .argument('<text...>', 'the question', parseTexts)
    .option('--entities <count>', 'start from so many entities (default: 50)', parseCount)
    .option(
      '--triples <count>',
      'so many triples of a term in each place (default: 30)',
      parseCount,
    )
    .option('--depth <count>', 'go so many triples far from them (default: 2)', parseDepth)
    .option('--max-triples <count>', 'so many triples in all (default: 150)', parseCount)
    .option(
      '--language <tag>',
      'names in this language where there are any; may be given again, the preferred one first',
      parseLanguages,
    )
    .addOption(configOption('embedder'))
    .option(
      '--model <name>',
      'have this model answer, behind an OpenAI-compatible server (its key: OPENAI_API_KEY)',
      parseText,
    )
    .option(
      '--model-url <url>',
      "where it is (default: OPENAI_BASE_URL, else OpenAI's own)",
      parseModelUrl,
    )
    .option(
      '--max-prompt-length <count>',
      'so many characters of passages in its prompt (default: 12000)',
      parseCount,
    )
  addScope(ask)
    .option('--all', 'print all of it, as a tree')
    .option('--dot', 'write a graph for Graphviz instead')
    .option('--json', 'print the subgraph, or the answer, as JSON on stdout')
  addAccess(ask)
    .addHelpText('after', example('lorekeep ask who wrote Frankenstein'))
    .action(ownedAction(async () => (await import('../commands/graph/ask.js')).ask))
}

export function addSearch(program: Command): void {
  const search = program
    .command('search')
    .description('Print the passages that have the words of a question, best first.')
    .argument(
      '<text...>',
      "words; in one argument with them '\"a phrase\"', '-word' that must not be there, and 'begin*'",
      parseTexts,
    )
    .addOption(new Option('-k <count>', 'how many').argParser(parseCount).default(10))
    .option('--document <iri>', 'only passages of this document', parseText)
    .option(
      '--language <tag>',
      'the language of the words, for other forms of them; may be given again (default: what they look like)',
      parseLanguages,
    )
    .option('--explain', 'say what the score of each is made of')
  addScope(search)
    .option('--all', 'print all that was found, and whole')
    .option('--json', 'print JSON on stdout, one passage per line')
  addAccess(search)
    .addHelpText('after', example('lorekeep search \'"News from Nowhere" row* -church\''))
    .action(ownedAction(async () => (await import('../commands/graph/search.js')).search))
}

export function addDuplicates(program: Command): void {
  const duplicates = program
    .command('duplicates')
    .description(
      'Print things that may be one, likeliest first: score, reasons and both of them, separated by tabs without a terminal.',
    )
    .addOption(
      new Option('--limit <count>', 'at most so many, 10,000 at most')
        .argParser(parsePairs)
        .default(100),
    )
    .addOption(
      new Option(
        '--least <score>',
        'only with this score or more, from 0 to 1 (default: 0.6)',
      ).argParser(parseShare),
    )
  addScope(duplicates).option('--json', 'print JSON on stdout, one pair per line')
  addAccess(duplicates)
    .addHelpText('after', example('lorekeep duplicates --limit 20'))
    .action(ownedAction(async () => (await import('../commands/graph/same.js')).listDuplicates))
}

export function addMerge(program: Command): void {
  const merge = program
    .command('merge')
    .description('Make two things one from now on; the first speaks for both. split takes it back.')
  addPair(merge)
    .addHelpText('after', example('lorekeep merge http://trustgraph.ai/e/nato urn:nato'))
    .action(ownedAction(async () => (await import('../commands/graph/same.js')).merge))
}

export function addSplit(program: Command): void {
  const split = program
    .command('split')
    .description(
      'Say that two things are not one: no flow joins them, and duplicates leaves them out.',
    )
  addPair(split)
    .addHelpText('after', example('lorekeep split http://trustgraph.ai/e/nato urn:nato'))
    .action(ownedAction(async () => (await import('../commands/graph/same.js')).split))
}

function addPair(command: Command): Command {
  const scoped = command
    .argument('<a>', 'an entity', parseTerm)
    .argument('<b>', 'the other', parseTerm)
    .addOption(userOption('whose cores'))
    .option('--collection <name>', 'only in this collection', parseText)
  return addAccess(scoped).addHelpText('after', termSyntax)
}

export function addSparql(program: Command): void {
  const sparql = program
    .command('sparql')
    .description(
      'Answer a query in SPARQL 1.1: as a table, or the TSV of SPARQL without a terminal; what is constructed, as N-Triples.',
    )
    .argument('[query]', 'the query', parseText)
    .option('--file <file>', "a file with the query; '-' for stdin", parseText)
  addScope(sparql).option('--json', 'print the JSON of SPARQL on stdout')
  addAccess(sparql)
    .addHelpText('after', example("lorekeep sparql 'SELECT DISTINCT ?p WHERE { ?s ?p ?o }'"))
    .action(ownedAction(async () => (await import('../commands/graph/sparql.js')).askSparql))
}

export function addIndex(program: Command): void {
  const index = program
    .command('index')
    .description(
      'Index a core, or all of them and merge what there is, which goes on in the background otherwise.',
    )
    .argument('[id]', "the core (default: all of the user's)", parseText)
    .addOption(userOption('whose cores'))
    .option('--state', 'say how much is indexed, and index nothing')
    .option('--json', 'print the state as JSON on stdout')
  addAccess(index)
    .addHelpText('after', example('lorekeep index urn:books --user alice'))
    .action(ownedAction(async () => (await import('../commands/graph/index-core.js')).indexCore))
}

function comparison(name: string, meaning: string): Option {
  return new Option(`--${name} <value>`, meaning).argParser(parseValue).conflicts('o')
}

/** Which cores are asked. */
function addScope(command: Command): Command {
  return command
    .addOption(userOption('whose cores'))
    .option('--core <id>', "a core; may be given again (default: all of the user's)", parseTexts)
    .option('--collection <name>', 'only what belongs to this collection', parseText)
}
