/** `npm run bench -- NAME [--json FILE]`: prints a table, and writes the same as JSON. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { engine } from './engine/engine.ts';
import { type Benchmark, machine, tablesOf } from './harness.ts';

const benchmarks: readonly Benchmark[] = [engine];

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { json: { type: 'string' } },
    allowPositionals: true,
  });
  const benchmark = benchmarks.find(({ name }) => name === positionals[0]);
  if (benchmark === undefined) {
    const list = benchmarks.map(({ name, summary }) => `  ${name}  ${summary}`).join('\n');
    process.stderr.write(`usage: npm run bench -- NAME [--json FILE]\n\n${list}\n`);
    return 2;
  }
  const rows = await benchmark.run((text) => process.stderr.write(`${text}\n`));
  process.stdout.write(`${tablesOf(rows)}\n`);
  if (values.json !== undefined) {
    writeFileSync(
      values.json,
      `${JSON.stringify({ name: benchmark.name, machine: machine(), rows }, undefined, 2)}\n`,
    );
  }
  return 0;
}

process.exitCode = await main();
