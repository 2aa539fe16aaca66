import { type Check, factOf, findingOf } from './check.ts';
import { capacityChecks } from './checks/capacity.ts';
import { clockChecks } from './checks/clocks.ts';
import { componentChecks } from './checks/components.ts';
import { definitionChecks } from './checks/definitions.ts';
import { diskChecks } from './checks/disks.ts';
import { driverChecks } from './checks/drivers.ts';
import { driveChecks } from './checks/drives.ts';
import { expectedLeaseChecks } from './checks/expected-leases.ts';
import { rightChecks } from './checks/rights.ts';
import { schedulerChecks } from './checks/schedulers.ts';
import { serverChecks } from './checks/server.ts';
import { volumeChecks } from './checks/volumes.ts';
import type { ClusterFacts } from './facts.ts';
import { severities } from './findings.ts';
import type { DoctorFinding, DoctorReport, UncheckedSubject } from './report.ts';

const checks: readonly Check[] = [
  ...serverChecks,
  ...clockChecks,
  ...definitionChecks,
  ...rightChecks,
  ...componentChecks,
  ...expectedLeaseChecks,
  ...schedulerChecks,
  ...driverChecks,
  ...volumeChecks,
  ...capacityChecks,
  ...driveChecks,
  ...diskChecks,
];

/** Makes every check for which the facts are there. Errors come first; within a severity, the order of the checks is kept. */
export function examine(facts: ClusterFacts): DoctorReport {
  const findings: DoctorFinding[] = [];
  const unchecked: UncheckedSubject[] = [];
  for (const check of checks) {
    const reasons = unreadReasons(facts, check);
    if (reasons.length > 0) unchecked.push({ check: check.subject, why: reasons.join('; ') });
    else findings.push(...check.find(facts).map(findingOf));
  }
  return {
    apiVersion: 'stowage.dev/doctor/v1',
    kind: 'DoctorReport',
    server: facts.server,
    findings: findings.toSorted((a, b) => rank(a) - rank(b)),
    unchecked,
    checkCount: checks.length - unchecked.length,
  };
}

function unreadReasons(facts: ClusterFacts, { needs }: Check): readonly string[] {
  const reasons = needs.flatMap((name) => {
    const fact = factOf(facts, name);
    return 'unread' in fact ? [fact.unread] : [];
  });
  return [...new Set(reasons)];
}

function rank({ severity }: DoctorFinding): number {
  return severities.indexOf(severity);
}
