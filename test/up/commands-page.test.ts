import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../project-root.ts';
import { commandsPage } from './commands-page.ts';
import { callInProcess } from './in-process.ts';
import { callStowage } from './stowage-process.ts';

interface Help {
  readonly name: string;
  readonly text: string;
}

/** The help of all commands, in the program's order; the commands of a group follow it. */
async function everyHelp(): Promise<readonly Help[]> {
  return await helpsIn((await callInProcess('--help')).stdout, '');
}

async function helpsIn(help: string, group: string): Promise<readonly Help[]> {
  const [, list = ''] = help.split('\nCommands:\n');
  const [commands = ''] = list.split('\n\n');
  const names = [...commands.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => name!);
  const helps: Help[] = [];
  for (const own of names.filter((name) => name !== 'help')) {
    const name = `${group}${own}`;
    const { status, stdout: text, stderr } = await callInProcess(...name.split(' '), '--help');
    expect([name, status, stderr]).toEqual([name, 0, '']);
    helps.push({ name, text }, ...(await helpsIn(text, `${name} `)));
  }
  return helps;
}

describe('the commands', async () => {
  const helps = await everyHelp();

  // `npx vitest run test/up/commands-page -u` updates the page.
  test('are documented as the program prints them', async () => {
    expect(helps.length).toBeGreaterThanOrEqual(8);
    await expect(commandsPage(helps)).toMatchFileSnapshot(join(projectRoot, 'docs/commands.md'));
  });

  test.each(helps)('$name has help with examples that fits on a screen', ({ text }) => {
    expect(text).toMatch(/\nExamples:\n {2}\S/);
    expect(text.split('\n').length).toBeLessThanOrEqual(60);
    expect(text.endsWith('\n')).toBe(true);
  });

  test.each(['bash', 'zsh', 'fish'])('are completed in %s with all their flags', async (shell) => {
    const { stdout: script } = await callStowage('completion', shell);
    for (const { name, text } of helps) {
      const part = partAbout(name, shell, script);
      const flags = [...text.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map(([, flag]) => flag!);
      expect(flags).toContain('help');
      const isThere = (flag: string) => new RegExp(`(--|-l )${flag}(?![\\w-])`).test(part);
      expect([name, flags.filter((flag) => !isThere(flag))]).toEqual([name, []]);
    }
  });

  test('use the same flag with the same meaning', () => {
    const shorts: readonly (readonly [RegExp, RegExp])[] = [
      [/^ +(.*)--output /, /^ {2}-o, --output <format>/],
      [/^ +(.*)--namespace /, /^ {2}-n, --namespace <name>/],
      [/^ +(.*)--kubeconfig /, /^ {2}--kubeconfig <file>/],
      [/^ +(.*)--context /, /^ {2}--context <name> +the context of the kubeconfig/],
      [/^ +(.*)--from /, /^ {2}--from <path>/],
      [/^ +(.*)--log-level /, /^ {2}--log-level <level>/],
    ];
    const lines = helps.flatMap(
      ({ text }) => /\nOptions:\n([\s\S]*?)\n\n/.exec(text)?.[1]?.split('\n') ?? [],
    );
    const isFlag = (line: string) => /^ {2}-/.test(line);
    for (const [flag, form] of shorts) {
      const found = lines.filter((line) => isFlag(line) && flag.test(line));
      expect(found.length).toBeGreaterThan(0);
      expect(found.filter((line) => !form.test(line))).toEqual([]);
    }
  });
});

/** The part of a completion script for one command. */
function partAbout(name: string, shell: string, script: string): string {
  const word = name.includes(' ') ? `'${name}'` : name;
  if (shell === 'fish')
    return script
      .split('\n')
      .filter((line) => line.includes(`"__stowage_at ${word}"`))
      .join('\n');
  // The completion of zsh has the commands of a group are cases inside the case of the group.
  const labels = shell === 'zsh' ? name.split(' ') : [word];
  const part = labels.reduce((text, label) => after(text, `\n    ${label}) `), script);
  return part.split(shell === 'bash' ? /\n {6}esac ;;/ : / ;;\n/)[0]!;
}

function after(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at < 0 ? '' : text.slice(at + mark.length);
}
