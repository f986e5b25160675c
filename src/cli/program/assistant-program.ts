// The command line of what assistants start.

import * as nodeModule from 'node:module'
import type { Command } from 'commander'
import { addAccess, configOption, example, ownedAction, parseText, userOption } from './options.js'

export function addMcp(program: Command, version: string): void {
  const mcp = program
    .command('mcp')
    .description(
      'Serve the Model Context Protocol on stdin and stdout, for the assistant that starts it: tools to ask what is stored.',
    )
    .option('--write', 'also a tool that loads texts, which are processed here')
    .option('--flow <id>', 'the flow that they go to (default: default)', parseText)
    .addOption(userOption('for whom'))
    .addOption(configOption('embedder'))
  addAccess(mcp)
    .addHelpText('after', example('lorekeep mcp --data ./lorekeep-data --user alice'))
    .action(
      ownedAction(async () => {
        keepCompiled()
        const { serveAssistant } = await import('../commands/assistants/mcp.js')
        return (options: Parameters<typeof serveAssistant>[1]) => serveAssistant(version, options)
      }),
    )
}

/**
 * Assistants wait for the start of what they start, half of which is the compiling of modules: Node keeps that for the
 * next time, in its own place below the directory for temporary files, from 22.1 on.
 */
function keepCompiled(): void {
  const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: () => unknown }
  enableCompileCache?.()
}
