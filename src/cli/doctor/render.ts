import type { Severity } from '../../queries/doctor/findings.ts';
import { severities } from '../../queries/doctor/findings.ts';
import type { DoctorFinding, DoctorReport, ExaminedObject } from '../../queries/doctor/report.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { Sections } from '../output/sections.ts';
import { styleOf } from '../output/style.ts';
import type { Terminal } from '../output/terminal.ts';

export interface RenderDoctorOptions {
  readonly terminal: Terminal;
  readonly isWide: boolean;
}

export function renderDoctor(report: DoctorReport, options: RenderDoctorOptions): string {
  const { server, findings, unchecked, checkCount } = report;
  const { bold, bad, warn, dim } = styleOf(options.terminal);
  const paint = { error: bad, warning: warn, info: dim };
  const sections = new Sections(options);
  const what = server.isEmbedded ? `${server.version}, of stowage up` : server.version;
  sections.line(bold(`${server.url} (${what}): ${summary(findings, checkCount)}`));
  sections.table('FINDINGS', findings, [
    { title: 'SEVERITY', cell: ({ severity }) => paint[severity](severity) },
    { title: 'CODE', cell: ({ code }) => code },
    { title: 'OBJECT', cell: ({ object }) => objectText(object) },
    { title: 'DETAIL', cell: ({ detail }) => detail },
  ]);
  sections.paragraphs('WHAT TO DO', remedies(findings));
  sections.paragraphs(
    'NOT CHECKED',
    unchecked.map(({ check, why }) => `could not check ${check}: ${why}`),
  );
  return sections.toString();
}

/** The objects with findings, one a line, as kubectl takes them where it knows their kind. */
export function doctorNames({ findings }: DoctorReport): string {
  const names = findings.map(({ object }) => `${object.kind.toLowerCase()}/${object.name}`);
  return [...new Set(names)].map((name) => `${printableText(name)}\n`).join('');
}

function summary(findings: readonly DoctorFinding[], checkCount: number): string {
  const counts = severities.flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return count === 0 ? [] : [`${count} ${plural(severity, count)}`];
  });
  const checks = `${checkCount} ${checkCount === 1 ? 'check' : 'checks'}`;
  return counts.length === 0 ? `${checks}, nothing found` : `${checks}, ${counts.join(', ')}`;
}

function plural(severity: Severity, count: number): string {
  if (severity === 'info') return count === 1 ? 'note' : 'notes';
  return count === 1 ? severity : `${severity}s`;
}

/** Once for each code: many objects may have the same problem. */
function remedies(findings: readonly DoctorFinding[]): readonly string[] {
  const texts = findings.map(({ code, meaning, remedy }) => `${code}: ${meaning}; ${remedy}`);
  return [...new Set(texts)];
}

function objectText({ kind, namespace, name }: ExaminedObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
