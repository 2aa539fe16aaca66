import { type CommandTree, type Flag, groupsBelow, type Values } from './command-tree.ts';

/** For zsh's completion system: one `_arguments` for each command. */
export function zshScript(root: CommandTree): string {
  return `#compdef stowage
# stowage completion for zsh; put it on the fpath as _stowage
_stowage() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C \\
${root.flags.map(flagSpec).map(indented).join('')}    '1: :_stowage_commands' \\
    '*:: :->arguments'
  [[ $state == arguments ]] || return
  case $line[1] in
${root.commands.map(commandCase).join('\n')}
  esac
}
${[root, ...groupsBelow(root)].map(commandsFunction).join('\n')}
_stowage_names() {
  local -a names=(\${(f)"$(stowage __names $1 -- \${words[1,CURRENT-1]} 2>/dev/null)"})
  names=(\${names:#*[^a-zA-Z0-9._/-]*})
  compadd -a names
}
if [ "$funcstack[1]" = "_stowage" ]; then _stowage "$@"; else compdef _stowage stowage; fi
`;
}

/** Describes the commands of the program, or of a group. */
function commandsFunction(command: CommandTree): string {
  return `${commandsName(command)}() {
  local -a commands=(
${command.commands.map(({ name, description }) => `    '${name}:${quoted(description)}'`).join('\n')}
  )
  _describe command commands
}`;
}

function commandsName({ path }: CommandTree): string {
  return path === '' ? '_stowage_commands' : `_stowage_${path.replaceAll(' ', '_')}_commands`;
}

/** A group has its own state: what follows its name are a command and that command's arguments. */
function groupCase(group: CommandTree): string {
  const specs = [...group.flags.map(flagSpec), `'1: :${commandsName(group)}'`, `'*:: :->${group.name}'`];
  return [
    `    ${group.name}) _arguments -C \\`,
    specs.map((spec) => `      ${spec}`).join(' \\\n'),
    `    [[ $state == ${group.name} ]] && case $line[1] in`,
    ...group.commands.map(commandCase),
    '    esac ;;',
  ].join('\n');
}

function commandCase(command: CommandTree): string {
  if (command.commands.length > 0) return groupCase(command);
  const last = command.arguments.length - 1;
  const specs = [
    ...command.flags.map(flagSpec),
    ...command.arguments.map(
      (values, at) => `'${command.isLastRepeated && at === last ? '*' : at + 1}: :${action(values)}'`,
    ),
  ];
  return `    ${command.name}) _arguments \\\n${specs.map((spec) => `      ${spec}`).join(' \\\n')} ;;`;
}

function flagSpec({ names, description, values, isValueOptional }: Flag): string {
  const exclusion = names.length > 1 ? `'(${names.join(' ')})'` : '';
  const marked = names.map((name) => `${name}${values === undefined ? '' : markOf(name, isValueOptional)}`);
  const name = marked.length > 1 ? `{${marked.join(',')}}` : marked[0]!;
  const value = values === undefined ? '' : `${isValueOptional ? '::' : ':'} :${action(values)}`;
  return `${exclusion}${name}'[${quoted(description)}]${value}'`;
}

/** Zsh uses `=` for a value that may follow an equals sign, and `=-` for a value that must. */
function markOf(name: string, isValueOptional: boolean): string {
  if (isValueOptional) return '=-';
  return name.startsWith('--') ? '=' : '';
}

function action(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `(${values.words.join(' ')})`;
    case 'names':
      // The space keeps zsh from putting arguments of its own before ours.
      return ` _stowage_names ${values.of}`;
    case 'file':
      return '_files';
    case 'directory':
      return '_files -/';
    case 'anything':
      return ' ';
  }
}

function indented(spec: string): string {
  return `    ${spec} \\\n`;
}

/** Escapes text inside single quotes, where brackets and colons are special. */
function quoted(text: string): string {
  return text.replaceAll("'", "'\\''").replace(/[[\]:\\]/g, (mark) => (mark === '\\' ? mark : `\\${mark}`));
}
