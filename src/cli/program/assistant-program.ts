// The command line of what assistants start.

import type { Command } from 'commander'
import { addAccess, configOption, example, ownedAction, parseText, userOption } from './options.js'

export function addMcp(program: Command): void {
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
        const { serveAssistant } = await import('../commands/assistants/mcp.js')
        return serveAssistant
      }),
    )
}
