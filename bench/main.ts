/** `npm run bench -- NAME [--json FILE]`: prints a table, and writes the same as JSON. */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { apiserver } from './apiserver/apiserver.ts';
import { engine } from './engine/engine.ts';
import { type Benchmark, machine, tablesOf } from './harness.ts';
import { scheduler } from './scheduler/scheduler.ts';
import { volumes } from './volumes/volumes.ts';

const benchmarks: readonly Benchmark[] = [engine, apiserver, volumes, scheduler];

type Call =
  | { readonly kind: 'run'; readonly benchmark: Benchmark; readonly jsonFile: string | undefined }
  | { readonly kind: 'unclear'; readonly problem: string };

async function main(args: readonly string[]): Promise<number> {
  const call = readCall(args);
  if (call.kind === 'unclear') {
    const list = benchmarks.map(({ name, summary }) => `  ${name}  ${summary}`).join('\n');
    process.stderr.write(`${call.problem}\n\nusage: npm run bench -- NAME [--json FILE]\n\n${list}\n`);
    return 2;
  }
  const { benchmark, jsonFile } = call;
  const rows = await benchmark.run((text) => process.stderr.write(`${text}\n`));
  process.stdout.write(`${tablesOf(rows)}\n`);
  if (jsonFile !== undefined) {
    const result = { name: benchmark.name, machine: machine(), rows };
    writeFileSync(jsonFile, `${JSON.stringify(result, undefined, 2)}\n`);
  }
  return 0;
}

/** Everything that can be wrong with a call is found before the minutes of measuring begin. */
function readCall(args: readonly string[]): Call {
  try {
    const options = { json: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const benchmark = benchmarks.find(({ name }) => name === positionals[0]);
    if (benchmark === undefined)
      return { kind: 'unclear', problem: `there is no benchmark "${positionals[0] ?? ''}"` };
    if (values.json !== undefined) closeSync(openSync(values.json, 'a'));
    return { kind: 'run', benchmark, jsonFile: values.json };
  } catch (error) {
    // An option that we don't have, or a file that can't be written.
    return { kind: 'unclear', problem: error instanceof Error ? error.message : String(error) };
  }
}

process.exitCode = await main(process.argv.slice(2));
