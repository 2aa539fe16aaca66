import { examine } from '../../queries/doctor/examine.ts';
import { type Severity, severities } from '../../queries/doctor/findings.ts';
import type { DoctorReport } from '../../queries/doctor/report.ts';
import { realClock } from '../../runtime/clock.ts';
import { usage } from '../errors/cli-error.ts';
import { serverError } from '../errors/server-error.ts';
import { type LogFlags, logForReading } from '../flags/log-flags.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { progressOf } from '../output/progress-of.ts';
import { terminalOf } from '../output/terminal.ts';
import { type ConnectFlags, connect } from '../source/connect.ts';
import { readFacts } from './read-facts.ts';
import { doctorNames, renderDoctor } from './render.ts';

export interface DoctorFlags extends ConnectFlags, Pick<LogFlags, 'verbose'> {
  readonly output: string;
  readonly failOn: string;
}

const requestTimeoutMs = 30_000;
/** Something was found; scripts can test it by the exit status. */
const problemsFound = 3;

/** `stowage doctor`: examines a cluster, prints the findings and sets the exit status. */
export async function doctor(flags: DoctorFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const threshold = thresholdOf(flags.failOn);
  const log = logForReading(flags);
  const progress = progressOf(log);
  await using cluster = await connect(flags, { rateLimit: false, requestTimeoutMs, log });
  try {
    const onProgress = (text: string) => progress.tell(text);
    const report = examine(await readFacts(cluster, { clock: realClock, onProgress }));
    progress.end();
    process.stdout.write(rendered(report, format));
    process.exitCode = exitCodeFor(report, threshold);
  } catch (error) {
    progress.end();
    throw serverError(error, cluster);
  }
}

type Threshold = Severity | 'never';

function thresholdOf(text: string): Threshold {
  const known = [...severities, 'never'] as const;
  const found = known.find((one) => one === text);
  if (found === undefined) throw usage(`--fail-on: "${text}" must be one of ${known.join(', ')}`);
  return found;
}

export function exitCodeFor({ findings }: DoctorReport, threshold: Threshold): number {
  if (threshold === 'never') return 0;
  const failing = severities.slice(0, severities.indexOf(threshold) + 1);
  return findings.some(({ severity }) => failing.includes(severity)) ? problemsFound : 0;
}

function rendered(report: DoctorReport, format: OutputFormat): string {
  switch (format) {
    case 'json':
    case 'yaml':
      return structured(report, format);
    case 'name':
      return doctorNames(report);
    case 'table':
    case 'wide':
      return renderDoctor(report, {
        terminal: terminalOf(process.stdout, process.env),
        isWide: format === 'wide',
      });
  }
}
