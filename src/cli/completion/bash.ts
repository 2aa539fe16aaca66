import { allCommands, type CommandTree, type Flag, groupsBelow, type Values } from './command-tree.ts';

/**
 * Works with the bash 3.2 of macOS and without the package bash-completion: only `compgen`, `COMP_WORDS` and `COMPREPLY`. Bash splits
 * words at `=`, so `--output=js` arrives as three words.
 */
export function bashScript(root: CommandTree): string {
  const all = allCommands(root);
  const groups = groupsBelow(root);
  return `# stowage completion for bash; load it with: source <(stowage completion bash)
_stowage() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command='' position=0 at word before
  COMPREPLY=()
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' && $COMP_CWORD -ge 2 ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]} before=\${COMP_WORDS[at-1]}
    [[ $word == -* || $word == '=' || $before == '=' ]] && continue
    _stowage_takes_value "$command" "$before" && continue
    if [[ -z $command ]]; then command=$word
    elif _stowage_is_group "$command"; then command="$command $word"
    else position=$((position + 1)); fi
  done
  case "$command $previous" in
${all.flatMap(({ path, flags }) => flags.flatMap((flag) => valueCase(path, flag))).join('\n')}
  esac
  case "$command" in
    '') _stowage_words '${words([...flagNames(root), ...root.commands.map(({ name }) => name)])}' ;;
${all.map(commandCase).join('\n')}
  esac
}
# compgen -W would evaluate the names, which come from a server.
_stowage_names() {
  local name
  _stowage_words "\${2-}"
  [[ $current == -* ]] && return
  while IFS= read -r name; do
    [[ $name =~ ^[a-zA-Z0-9][a-zA-Z0-9._/-]*$ && $name == "$current"* ]] && COMPREPLY+=("$name")
  done < <("\${COMP_WORDS[0]}" __names "$1" -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
}
_stowage_words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
# Names may have spaces; bash older than 4 has no compopt, and then puts no slash after a folder.
_stowage_paths() { local IFS=$'\\n'; COMPREPLY=($(compgen "$1" -- "$current")); compopt -o filenames 2>/dev/null; }
_stowage_is_group() { [[ ${groups.map(({ path }) => `$1 == '${path}'`).join(' || ')} ]]; }
_stowage_takes_value() {
  case "$1 $2" in
${all.flatMap(({ path, flags }) => takesValueCase(path, flags)).join('\n')}
    *) return 1 ;;
  esac
}
complete -F _stowage stowage
`;
}

function valueCase(command: string, { names, values, isValueOptional }: Flag): string[] {
  if (values === undefined) return [];
  // After a space, the next word is not the optional value of a flag.
  const reached = isValueOptional
    ? `[[ \${COMP_WORDS[COMP_CWORD-1]} == '=' || \${COMP_WORDS[COMP_CWORD]} == '=' ]] && { `
    : '';
  const end = isValueOptional ? '; return; }' : '; return';
  return [`    ${patterns(command, names)}) ${reached}${offer(values)}${end} ;;`];
}

function offer(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `_stowage_words '${words(values.words)}'`;
    case 'names':
      return `_stowage_names ${values.of}`;
    case 'file':
      return '_stowage_paths -f';
    case 'directory':
      return '_stowage_paths -d';
    case 'anything':
      return ':';
  }
}

function commandCase(command: CommandTree): string {
  const own = [...flagNames(command), ...command.commands.map(({ name }) => name)];
  const offered = command.arguments.map((values, at) => {
    const isRest = command.isLastRepeated && at === command.arguments.length - 1;
    return `        ${isRest ? '*' : at}) ${argumentOffer(values, own)} ;;`;
  });
  const rest = command.isLastRepeated ? [] : [`        *) _stowage_words '${words(own)}' ;;`];
  const name = command.path.includes(' ') ? `'${command.path}'` : command.path;
  return [`    ${name}) case $position in`, ...offered, ...rest, '      esac ;;'].join('\n');
}

function argumentOffer(values: Values, own: readonly string[]): string {
  if (values.kind === 'names') return `_stowage_names ${values.of} '${words(own)}'`;
  if (values.kind === 'file')
    return `if [[ $current == -* ]]; then _stowage_words '${words(own)}'; else _stowage_paths -f; fi`;
  const more = values.kind === 'words' ? values.words : [];
  return `_stowage_words '${words([...more, ...own])}'`;
}

function takesValueCase(command: string, flags: readonly Flag[]): string[] {
  const names = flags
    .filter(({ values, isValueOptional }) => values && !isValueOptional)
    .flatMap((flag) => flag.names);
  return names.length === 0 ? [] : [`    ${patterns(command, names)}) return 0 ;;`];
}

function patterns(command: string, names: readonly string[]): string {
  return names.map((name) => `'${command} ${name}'`).join('|');
}

function flagNames({ flags }: CommandTree): readonly string[] {
  return flags.flatMap(({ names }) => names);
}

function words(list: readonly string[]): string {
  return list.join(' ');
}
