import type { Command } from 'commander';

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print the script that completes commands, flags and values of stowage in a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText(
      'after',
      `
Examples:
  source <(stowage completion bash)                                       this shell; ~/.bashrc for all
  stowage completion zsh > "\${fpath[1]}/_stowage"
  stowage completion fish > ~/.config/fish/completions/stowage.fish`,
    )
    .action(async (shell) => {
      const { completion } = await import('./run.ts');
      completion(shell, program);
    });
}
