import { parseQuantity, quantityToNano } from '../../kube/quantities/quantity.ts';
import type { HeadroomReport } from '../../queries/headroom/headroom-report.ts';
import { type HeadroomMeasureOptions, measureRoom } from '../../queries/headroom/measure.ts';
import { realClock } from '../../runtime/clock.ts';
import { usage } from '../errors/cli-error.ts';
import { workloadFlag } from '../flags/change-flags.ts';
import { profileFlag } from '../flags/profile-flag.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import type { Terminal } from '../output/terminal.ts';
import type { LoadedView, SourceFlags } from '../source/load-cluster-view.ts';
import { requireNodes } from '../source/require-nodes.ts';
import { type AnsweredText, answerOrWatch, type WatchFlags } from '../watch/answer-or-watch.ts';
import { fittingNames, renderHeadroom } from './render.ts';

export interface HeadroomFlags extends SourceFlags, WatchFlags {
  readonly class?: string;
  readonly size?: string;
  readonly like?: string;
  readonly max?: string;
  readonly namespace?: string;
  readonly profile?: string;
  readonly output: string;
}

const sizeDefault = '10Gi';

/** `stowage headroom`: prints how much more fits, and sets the exit status. */
export async function headroomCommand(flags: HeadroomFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const options = optionsOf(flags, format);
  if (flags.like !== undefined && flags.class !== undefined)
    throw usage('--like and --class: use one of them; a StatefulSet names its classes itself');
  if (flags.like !== undefined && flags.size !== undefined)
    throw usage('--like and --size: use one of them; a StatefulSet has the sizes of its claims itself');
  await answerOrWatch(flags, { namespace: flags.namespace }, (loaded, terminal) =>
    answered(loaded, flags, { ...options, format, terminal }),
  );
}

function optionsOf(flags: HeadroomFlags, format: OutputFormat): Omit<HeadroomMeasureOptions, 'nowMs'> {
  const { size: text = sizeDefault } = flags;
  return {
    profile: profileFlag(flags.profile),
    size: { text, bytes: bytesOf('--size', text) },
    storageClass: flags.class,
    countMax: flags.max === undefined ? undefined : countOf(flags.max),
    isWide: format !== 'table',
  };
}

function answered(
  loaded: LoadedView,
  { like }: HeadroomFlags,
  options: Omit<HeadroomMeasureOptions, 'nowMs'> & {
    readonly format: OutputFormat;
    readonly terminal: Terminal;
  },
): AnsweredText {
  requireNodes(loaded);
  const { view, namespace } = loaded;
  const report = measureRoom(view, {
    ...options,
    nowMs: realClock.nowMs(),
    like: like === undefined ? undefined : workloadFlag('--like', like, namespace, 'sts'),
  });
  return {
    text: renderedHeadroom(report, options.format, options.terminal),
    exitCode: exitCodeOfHeadroom(report, like !== undefined || options.storageClass !== undefined),
  };
}

export function renderedHeadroom(report: HeadroomReport, format: OutputFormat, terminal: Terminal): string {
  if (format === 'json' || format === 'yaml') return structured(report, format);
  if (format === 'name') return fittingNames(report);
  return renderHeadroom(report, { terminal, isWide: format === 'wide' });
}

/** 3 if a class or a workload was named, and nothing more of it fits. */
export function exitCodeOfHeadroom({ rows }: HeadroomReport, isNamed: boolean): number {
  return isNamed && rows.every(({ count }) => count === 0) ? 3 : 0;
}

function bytesOf(flag: string, text: string): number {
  const parsed = parseQuantity(text);
  const bytes = parsed.ok ? Number(quantityToNano(parsed.quantity)) / 1e9 : Number.NaN;
  if (!(bytes > 0)) throw usage(`${flag}: "${text}" must be a size such as 10Gi`);
  return Math.ceil(bytes);
}

const countLimit = 1_000_000;

function countOf(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > countLimit)
    throw usage(`--max: "${text}" must be a whole number from 1 to ${countLimit}`);
  return count;
}
