import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { builtProgram } from '../built-program.ts';
import { projectRoot } from '../project-root.ts';
import { delay } from './stowage-process.ts';

/** The machine may be busy. */
const printMaxMs = 120_000;

/**
 * Runs `examples/custom-scheduler.mjs`, with the import of the library replaced. The returned function waits until the example has printed
 * a text.
 */
export function runExample(folder: string, kubeconfig: string): (text: string) => Promise<void> {
  const library = builtProgram(new URL('../../src/binding/index.ts', import.meta.url));
  const example = readFileSync(join(projectRoot, 'examples/custom-scheduler.mjs'), 'utf8');
  mkdirSync(join(folder, 'example'));
  const script = join(folder, 'example/custom-scheduler.mjs');
  writeFileSync(script, example.replace("'stowage/binding'", JSON.stringify(pathToFileURL(library).href)));
  let printed = '';
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env.PATH, KUBECONFIG: kubeconfig },
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      printed += chunk;
    });
  const exited = new Promise((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return async (text) => {
    const giveUpAtMs = Date.now() + printMaxMs;
    while (!printed.includes(text)) {
      if (Date.now() > giveUpAtMs) expect(printed).toContain(text);
      await delay(20);
    }
  };
}
