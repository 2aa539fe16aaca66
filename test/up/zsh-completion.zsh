# What a real zsh offers, on a terminal of its own: zsh -f zsh-completion.zsh FOLDER LINE...
# FOLDER has the script as `_stowage`. Prints each line, and below it what the Tab key brings, indented.
zmodload zsh/zpty
folder=$1 found=$1/found
shift
zpty shell zsh -f -i
zpty -w shell "PROMPT= PROMPT2=; fpath=($folder \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell 'compadd() { local -a hits; builtin compadd -A hits "$@"; (( $#hits )) && print -rl -- "  "$^hits >> $found; builtin compadd "$@" }'
zpty -w shell "_tried() { _main_complete; print -r -- END >> $found }; zle -C tried complete-word _tried; bindkey '^I' tried; found=$found"
zpty -w shell ": > $found.ready"
while [[ ! -e $found.ready ]]; do sleep 0.02; done
for line; do
  : > $found
  zpty -w -n shell $'\x15'"$line"$'\t'
  while ! grep -q '^END$' $found; do zpty -r -t shell heard; sleep 0.02; done
  print -r -- "$line"
  grep -v '^END$' $found | sort -u
done
zpty -d shell
