import type { Argument, Command, Option } from 'commander';
import { argumentValues, flagValues, type NamedThing, namedByArgument, namedByFlag } from './known-values.ts';

/** The commands, flags and arguments of `stowage`, independent of a shell. */
export interface CommandTree {
  readonly name: string;
  /** As it is typed after `stowage`: `explain`, `drives list`. */
  readonly path: string;
  readonly description: string;
  readonly flags: readonly Flag[];
  readonly arguments: readonly Values[];
  /** The last argument may be repeated. */
  readonly isLastRepeated: boolean;
  readonly commands: readonly CommandTree[];
}

export interface Flag {
  /** `-o`, `--output`. */
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined for a flag without a value. */
  readonly values: Values | undefined;
  /** The value is optional, so it must follow `=`. */
  readonly isValueOptional: boolean;
}

/** The possible values: one of a list, the name of an object in the cluster, a path, or anything. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'names'; readonly of: NamedThing }
  | { readonly kind: 'file' | 'directory' | 'anything' };

/** Reads the tree from the program itself, so that it is always complete. */
export function commandTree(command: Command): CommandTree {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((child) => child.name() !== 'help');
  const path = pathOf(command);
  return {
    name: command.name(),
    path,
    description: command.description(),
    flags: help.visibleOptions(command).map((option) => flagOf(path, option)),
    arguments: command.registeredArguments.map((argument) => argumentOf(path, argument)),
    isLastRepeated: command.registeredArguments.at(-1)?.variadic === true,
    commands: commands.map(commandTree),
  };
}

/** Groups at any depth. */
export function groupsBelow(root: CommandTree): readonly CommandTree[] {
  return allCommands(root).filter(({ commands }) => commands.length > 0);
}

/** All commands below the root: each, and after a group the commands in it. */
export function allCommands(root: CommandTree): readonly CommandTree[] {
  return root.commands.flatMap((command) => [command, ...allCommands(command)]);
}

function pathOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(' ');
}

function flagOf(command: string, option: Option): Flag {
  const takesValue = option.required || option.optional;
  return {
    names: [option.short, option.long].filter((name) => name !== undefined),
    description: option.description,
    values: takesValue ? valuesOf(command, option) : undefined,
    isValueOptional: option.optional,
  };
}

function valuesOf(command: string, { long, flags, argChoices }: Option): Values {
  const of = namedByFlag(command, long ?? '');
  if (of !== undefined) return { kind: 'names', of };
  const words = argChoices ?? flagValues(long ?? '');
  return words === undefined ? pathOrAnything(flags) : { kind: 'words', words };
}

/** The name of a flag's value says what it is: `--data <dir>`, `--kubeconfig <file>`. */
function pathOrAnything(flags: string): Values {
  if (flags.includes('<dir>')) return { kind: 'directory' };
  return { kind: /<(file|path)>/.test(flags) ? 'file' : 'anything' };
}

function argumentOf(command: string, argument: Argument): Values {
  const of = namedByArgument(command, argument.name());
  if (of !== undefined) return { kind: 'names', of };
  const words = argument.argChoices ?? argumentValues(command, argument.name());
  if (words !== undefined) return { kind: 'words', words };
  return { kind: /^(devices|file)$/.test(argument.name()) ? 'file' : 'anything' };
}
