import { findReservations } from '../../queries/reservations/find-reservations.ts';
import type { ReservationsReport } from '../../queries/reservations/report.ts';
import { cannotRead } from '../../queries/view/missing-notes.ts';
import { realClock } from '../../runtime/clock.ts';
import { CliError } from '../errors/cli-error.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { terminalOf } from '../output/terminal.ts';
import { loadClusterView, type SourceFlags } from '../source/load-cluster-view.ts';
import { requireNamespace } from '../source/require-namespace.ts';
import { renderReservations, reservationNames } from './render.ts';

export interface ReservationsFlags extends SourceFlags {
  readonly namespace?: string;
  readonly output: string;
}

/** `stowage reservations`: shows what is reserved, and by which claim or pod. */
export async function reservationsCommand(flags: ReservationsFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const { view, where } = await loadClusterView(flags, { namespace: flags.namespace });
  if (flags.namespace !== undefined) requireNamespace(view, flags.namespace, where);
  if (cannotRead(view, ['PersistentVolume', 'PersistentVolumeClaim']))
    throw new CliError(
      'could see neither persistentvolumes nor persistentvolumeclaims: forbidden; ask for the right to list them',
    );
  const nowMs = realClock.nowMs();
  const report = findReservations(view, { nowMs, namespace: flags.namespace });
  process.stdout.write(rendered(report, format, nowMs));
}

function rendered(report: ReservationsReport, format: OutputFormat, nowMs: number): string {
  switch (format) {
    case 'json':
    case 'yaml':
      return structured(report, format);
    case 'name':
      return reservationNames(report);
    case 'table':
    case 'wide': {
      const terminal = terminalOf(process.stdout, process.env);
      return renderReservations(report, { terminal, isWide: format === 'wide', nowMs });
    }
  }
}
