import { allCommands, type CommandTree, type Flag, groupsBelow, type Values } from './command-tree.ts';

/**
 * For fish: one `complete` for each flag, command and value, with a condition on its position. fish's own conditions check all words on the
 * line, not at their positions, and a pod may be called `run`.
 */
export function fishScript(root: CommandTree): string {
  return [
    '# stowage completion for fish; save it as ~/.config/fish/completions/stowage.fish',
    ...whereFunction(root),
    'complete -c stowage -f',
    ...root.flags.map((flag) => flagLine("''", flag)),
    ...offeredCommands(root),
    ...allCommands(root).flatMap(commandLines),
    '',
  ].join('\n');
}

/** The commands of the program, or of a group. */
function offeredCommands({ path, commands }: CommandTree): readonly string[] {
  return commands.map(
    ({ name, description }) =>
      `complete -c stowage -n "__stowage_at ${word(path)}" -a ${name} -d '${quoted(description)}'`,
  );
}

/** A path with spaces is one word. */
function word(path: string): string {
  return /^\S+$/.test(path) ? path : `'${path}'`;
}

/** Tests whether the current word belongs to a command, optionally as its argument with the given number. */
function whereFunction(root: CommandTree): readonly string[] {
  const flags = [root, ...allCommands(root)].flatMap((command) => command.flags);
  const groups = groupsBelow(root).map(({ path }) => word(path));
  const withValue = flags.filter(({ values, isValueOptional }) => values !== undefined && !isValueOptional);
  const names = [...new Set(withValue.flatMap((flag) => flag.names))];
  return [
    'function __stowage_at',
    "    set -l command ''",
    '    set -l position 0',
    '    set -l is_value 0',
    '    for word in (commandline -opc)[2..-1]',
    '        if test $is_value = 1',
    '            set is_value 0',
    `        else if contains -- $word ${names.join(' ')}`,
    '            set is_value 1',
    "        else if string match -q -- '-*' $word",
    '            continue',
    '        else if test -z "$command"',
    '            set command $word',
    `        else if contains -- $command ${groups.join(' ')}`,
    '            set command "$command $word"',
    '        else',
    '            set position (math $position + 1)',
    '        end',
    '    end',
    '    test "$command" = "$argv[1]"; or return 1',
    '    test (count $argv) -eq 1; or test $position -eq $argv[2]',
    'end',
  ];
}

function commandLines(command: CommandTree): string[] {
  const { path, flags, arguments: values, isLastRepeated } = command;
  const offered = values.flatMap((value, at) => {
    const isAnywhere = isLastRepeated && values.length === 1;
    const condition = `-n "__stowage_at ${word(path)}${isAnywhere ? '' : ` ${at}`}"`;
    if (value.kind === 'file') return [`complete -c stowage ${condition} -F`];
    const words = argumentWords(value);
    return words === undefined ? [] : [`complete -c stowage ${condition} -a '${words}'`];
  });
  return [...flags.map((flag) => flagLine(word(path), flag)), ...offeredCommands(command), ...offered];
}

function argumentWords(values: Values): string | undefined {
  if (values.kind === 'words') return values.words.join(' ');
  return values.kind === 'names' ? namesCall(values.of) : undefined;
}

function flagLine(command: string, { names, description, values, isValueOptional }: Flag): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const value = values === undefined ? '' : ` ${valueFlags(values, isValueOptional)}`;
  return `complete -c stowage -n "__stowage_at ${command}" ${flags.join(' ')}${value} -d '${quoted(description)}'`;
}

/** `-x` marks a required value; an optional value is offered only after an equals sign. */
function valueFlags(values: Values, isOptional: boolean): string {
  const exclusive = isOptional ? '-f' : '-x';
  switch (values.kind) {
    case 'words':
      return `${exclusive} -a '${values.words.join(' ')}'`;
    case 'names':
      return `${exclusive} -a '${namesCall(values.of)}'`;
    case 'file':
      return '-r -F';
    case 'directory':
      return `${exclusive} -a '(__fish_complete_directories)'`;
    case 'anything':
      return exclusive;
  }
}

function namesCall(of: string): string {
  return `(stowage __names ${of} -- (commandline -opc)[2..-1] 2>/dev/null | string match -rv "[^a-zA-Z0-9._/-]")`;
}

function quoted(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
}
