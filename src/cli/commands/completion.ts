// `lorekeep completion`: a script for a shell, made of the commands and options that there are.

import type { Command } from 'commander'
import { writeOut } from '../output/output.js'

export type Shell = 'bash' | 'zsh' | 'fish'

/** What may follow the words of a command. */
interface Level {
  /** Its names, from the program's on: `['objects', 'import']`. */
  readonly path: readonly string[]
  readonly commands: readonly Word[]
  readonly options: readonly Flag[]
}

interface Word {
  readonly name: string
  readonly about: string
}

interface Flag extends Word {
  /** Undefined where it takes no value, empty where any fits: a file, or what nobody can guess. */
  readonly values: readonly string[] | undefined
}

export async function printCompletion(shell: Shell, program: Command): Promise<void> {
  await writeOut(completionScript(shell, program))
}

function completionScript(shell: Shell, program: Command): string {
  const levels = [...levelsOf(program, [], [])]
  switch (shell) {
    case 'bash':
      return bashScript(levels)
    case 'zsh':
      // Its own completion would need the same words in a third grammar, and has room for this one.
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(levels)}`
    case 'fish':
      return fishScript(levels)
  }
}

/** Options of a command are those of its parents, too. */
function* levelsOf(
  command: Command,
  path: readonly string[],
  inherited: readonly Flag[],
): Generator<Level> {
  const subcommands = command.createHelp().visibleCommands(command)
  // A group lists where no command is named, with the options of its list.
  const list = subcommands.filter((sub) => sub.name() === 'list')
  const handedOn = [...flagsOf(command), ...inherited]
  const all = [...list.flatMap(flagsOf), ...handedOn]
  const options = all.filter((flag, place) => all.findIndex((f) => f.name === flag.name) === place)
  const commands = subcommands.map((sub) => ({ name: sub.name(), about: sub.description() }))
  yield { path, commands: [...commands, ...choicesOf(command)], options }
  for (const sub of subcommands) {
    // `help` takes the names of the others.
    if (sub.name() === 'help') {
      const others = commands.filter(({ name }) => name !== 'help')
      yield { path: [...path, 'help'], commands: others, options: [] }
    } else yield* levelsOf(sub, [...path, sub.name()], handedOn)
  }
}

function flagsOf(command: Command): readonly Flag[] {
  const options = command.createHelp().visibleOptions(command)
  return options.map((option) => {
    const takesValue = option.required || option.optional
    return {
      name: option.long ?? option.short ?? '',
      about: option.description,
      values: takesValue ? (option.argChoices ?? []) : undefined,
    }
  })
}

/** Of its arguments. */
function choicesOf(command: Command): readonly Word[] {
  return command.registeredArguments.flatMap(({ argChoices = [], description }) => {
    return argChoices.map((name) => ({ name, about: description }))
  })
}

/** Names and choices hold no character that a shell would look at; descriptions do, and are quoted. */
function bashScript(levels: readonly Level[]): string {
  const names = new Set(levels.slice(1).map(({ path }) => path.join(' ')))
  const known = [...names].map((name) => `      '${name}') path=$name;;`)
  const offers = levels.map(({ path, commands, options }) => {
    const words = [...commands, ...options].map(({ name }) => name).join(' ')
    return `    '${path.join(' ')}') words='${words}';;`
  })
  const values = levels.flatMap(({ path, options }) =>
    options.flatMap(({ name, values }) =>
      values === undefined
        ? []
        : [`    '${[...path, name].join(' ')}') values='${values.join(' ')}' takes=1;;`],
    ),
  )
  return `# lorekeep: completion for bash; load it with  source <(lorekeep completion bash)
# Names of files may hold spaces, and what else a shell looks at.
_lorekeep_files() {
  local file
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -P "$prefix" -f -- "$current")
}
_lorekeep() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local path='' name word index words='' values='' takes='' prefix=''
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    name=\${path:+$path }$word
    case $name in
${known.join('\n')}
    esac
  done
  # --mode=r is three words for bash, and one for zsh.
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $current == --*=* ]]; then
    prefix=\${current%%=*}=
    previous=\${current%%=*}
    current=\${current#*=}
  fi
  COMPREPLY=()
  case "\${path:+$path }$previous" in
${values.join('\n')}
  esac
  if [[ -n $takes ]]; then
    if [[ -n $values ]]; then COMPREPLY=($(compgen -P "$prefix" -W "$values" -- "$current"))
    else _lorekeep_files; fi
    return
  fi
  case $path in
${offers.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  # Files are arguments of most commands.
  if [[ \${#COMPREPLY[@]} -eq 0 && $current != -* ]]; then _lorekeep_files; fi
}
complete -o filenames -F _lorekeep lorekeep
`
}

function fishScript(levels: readonly Level[]): string {
  const lines = levels.flatMap(({ path, commands, options }) => {
    const known = commands.map(({ name }) => name).join(' ')
    const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ')
    const where = path.length === 0 ? '__fish_use_subcommand' : seen
    const fresh =
      path.length === 0 || known === ''
        ? where
        : `${where}; and not __fish_seen_subcommand_from ${known}`
    const offer = (about: string, condition: string, what: string) =>
      `complete -c lorekeep -n ${fishQuoted(condition)} ${what} -d ${fishQuoted(about)}`
    return [
      ...commands.map(({ name, about }) => offer(about, fresh, `-f -a ${name}`)),
      ...options.map(({ name, about, values }) => {
        const flag = name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`
        const choices =
          values === undefined || values.length === 0
            ? ''
            : ` -f -a ${fishQuoted(values.join(' '))}`
        return offer(about, where, `${flag}${values === undefined ? '' : ' -r'}${choices}`)
      }),
    ]
  })
  return `# lorekeep: completion for fish; lorekeep completion fish > ~/.config/fish/completions/lorekeep.fish\n${lines.join('\n')}\n`
}

function fishQuoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}
