/** `npm run bench -- NAME [--json FILE]` prints tables and writes the same as JSON; some benchmarks support smaller sizes or a plot. */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { apiserver } from './apiserver/apiserver.ts';
import { capacity } from './capacity/capacity.ts';
import { commandsBenchmark } from './commands/commands.ts';
import { compare } from './compare/compare.ts';
import { consoleBenchmark } from './console/console.ts';
import { disksBenchmark } from './disks/disks.ts';
import { drivesBenchmark } from './drives/drives.ts';
import { engine } from './engine/engine.ts';
import { type Benchmark, machine, type Sizes, tablesOf } from './harness.ts';
import { scheduler } from './scheduler/scheduler.ts';
import { volumes } from './volumes/volumes.ts';

const benchmarks: readonly Benchmark[] = [
  engine,
  apiserver,
  volumes,
  drivesBenchmark,
  disksBenchmark,
  scheduler,
  capacity,
  commandsBenchmark,
  consoleBenchmark,
  compare,
];
const usage =
  'npm run bench -- NAME [--json FILE] [--svg FILE] [--nodes N] [--pvs N] [--pods N] [--cap SECONDS]';

const text = { type: 'string' } as const;
const options = { json: text, svg: text, nodes: text, pvs: text, pods: text, cap: text } as const;
const sizeNames = ['nodes', 'pvs', 'pods', 'cap'] as const;

type Call =
  | {
      readonly kind: 'run';
      readonly benchmark: Benchmark;
      readonly sizes: Sizes;
      readonly jsonFile: string | undefined;
      readonly svgFile: string | undefined;
    }
  | { readonly kind: 'unclear'; readonly problem: string };

async function main(args: readonly string[]): Promise<number> {
  const call = readCall(args);
  if (call.kind === 'unclear') {
    const list = benchmarks.map(({ name, summary }) => `  ${name}  ${summary}`).join('\n');
    process.stderr.write(`${call.problem}\n\nusage: ${usage}\n\n${list}\n`);
    return 2;
  }
  const { benchmark, sizes, jsonFile, svgFile } = call;
  const rows = await benchmark.run((text) => process.stderr.write(`${text}\n`), sizes);
  process.stdout.write(`${(benchmark.report ?? tablesOf)(rows)}\n`);
  if (jsonFile !== undefined) {
    const result = { name: benchmark.name, machine: machine(), rows };
    writeFileSync(jsonFile, `${JSON.stringify(result, undefined, 2)}\n`);
  }
  if (svgFile !== undefined) writeFileSync(svgFile, benchmark.plot?.(rows) ?? '');
  return 0;
}

/** Checks all arguments before the measurement, which takes minutes. */
function readCall(args: readonly string[]): Call {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const benchmark = benchmarks.find(({ name }) => name === positionals[0]);
    if (benchmark === undefined)
      return { kind: 'unclear', problem: `there is no benchmark "${positionals[0] ?? ''}"` };
    if (values.svg !== undefined && benchmark.plot === undefined)
      return { kind: 'unclear', problem: `--svg: ${benchmark.name} has no plot` };
    for (const file of [values.json, values.svg]) if (file !== undefined) closeSync(openSync(file, 'a'));
    const sizes = Object.fromEntries(
      sizeNames.flatMap((name) => (values[name] === undefined ? [] : [[name, sizeOf(name, values[name])]])),
    );
    return { kind: 'run', benchmark, sizes, jsonFile: values.json, svgFile: values.svg };
  } catch (error) {
    // An unknown option, or a file that can't be written.
    return { kind: 'unclear', problem: error instanceof Error ? error.message : String(error) };
  }
}

function sizeOf(name: string, text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Error(`--${name}: "${text}" is not a whole number above 0`);
}

process.exitCode = await main(process.argv.slice(2));
