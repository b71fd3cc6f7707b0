/** Completion scripts, made from the commands themselves, so that they cannot fall behind. */
import type {Command} from 'commander';
import {Refusal} from './fail.ts';

interface Word {
  word: string;
  description: string;
}

interface Words {
  commands: (Word & {options: Word[]})[];
}

export function completion(shell: string, cli: Command): string {
  const words: Words = {
    commands: cli.commands.map((command) => ({
      word: command.name(),
      description: command.description(),
      options: [
        ...command.options.filter(({hidden}) => !hidden).map(({long, short, description}) => ({word: long ?? short!, description})),
        {word: '--help', description: 'display help for command'},
      ],
    })),
  };
  const script = {bash, zsh, fish}[shell];
  if (!script) throw new Refusal(`no completion for ${shell}: there is bash, zsh and fish`);
  return script(words);
}

function bash({commands}: Words): string {
  const cases = commands.map(({word, options}) => `    ${word}) words="${options.map((option) => option.word).join(' ')}" ;;`).join('\n');
  return `# clusterless completion for bash: source <(clusterless completion bash)
_clusterless() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({word}) => word).join(' ')} --help --version" -- "$cur"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -f -- "$cur")) ;;
  esac
}
complete -o filenames -F _clusterless clusterless
`;
}

/** For single quotes in shells. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function zsh({commands}: Words): string {
  const spec = ({word, description}: Word): string => quoted(`${word}:${description.replaceAll(':', '\\:')}`);
  const cases = commands.map(({word, options}) => `    ${word}) options=(${options.map(spec).join(' ')}) ;;`).join('\n');
  return `#compdef clusterless
# clusterless completion for zsh: source <(clusterless completion zsh)
_clusterless() {
  local -a commands options
  commands=(${commands.map(spec).join(' ')})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$words[2]" in
${cases}
  esac
  _describe option options
  _files
}
compdef _clusterless clusterless
`;
}

function fish({commands}: Words): string {
  const lines = commands.flatMap(({word, description, options}) => [
    `complete -c clusterless -n __fish_use_subcommand -f -a ${word} -d ${quoted(description)}`,
    ...options.map(
      (option) =>
        `complete -c clusterless -n '__fish_seen_subcommand_from ${word}' ${option.word.startsWith('--') ? `-l ${option.word.slice(2)}` : `-o ${option.word.slice(1)}`} -d ${quoted(option.description)}`,
    ),
  ]);
  return `# clusterless completion for fish: clusterless completion fish | source\n${lines.join('\n')}\n`;
}
