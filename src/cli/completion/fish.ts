import type { CommandTree, Flag, Values } from './command-tree.ts';

/** For fish: one `complete` for each thing that can be typed. */
export function fishScript(root: CommandTree): string {
  const none = 'not __fish_seen_subcommand_from $stowage_commands';
  return [
    '# stowage completion for fish; save it as ~/.config/fish/completions/stowage.fish',
    `set -g stowage_commands ${root.commands.map(({ name }) => name).join(' ')}`,
    'complete -c stowage -f',
    ...root.flags.map((flag) => flagLine(none, flag)),
    ...root.commands.map(
      ({ name, description }) => `complete -c stowage -n '${none}' -a ${name} -d '${quoted(description)}'`,
    ),
    ...root.commands.flatMap(commandLines),
    '',
  ].join('\n');
}

function commandLines({ name, flags, arguments: values }: CommandTree): string[] {
  const inside = `__fish_seen_subcommand_from ${name}`;
  const offered = values.flatMap((value) => (value.kind === 'words' ? value.words : []));
  return [
    ...flags.map((flag) => flagLine(inside, flag)),
    ...(offered.length === 0 ? [] : [`complete -c stowage -n '${inside}' -a '${offered.join(' ')}'`]),
  ];
}

function flagLine(condition: string, { names, description, values, isValueOptional }: Flag): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const value = values === undefined || isValueOptional ? '' : ` ${valueFlags(values)}`;
  return `complete -c stowage -n '${condition}' ${flags.join(' ')}${value} -d '${quoted(description)}'`;
}

function valueFlags(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `-x -a '${values.words.join(' ')}'`;
    case 'file':
      return '-r -F';
    case 'directory':
      return "-x -a '(__fish_complete_directories)'";
    case 'anything':
      return '-x';
  }
}

function quoted(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
}
