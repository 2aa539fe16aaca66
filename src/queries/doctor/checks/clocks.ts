import type { Lease } from '../../../kube/api/coordination.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import { type Check, type Found, objectOf } from '../check.ts';
import { type ClusterFacts, factValue, type ServerClock } from '../facts.ts';

/** Capacity reports expire after minutes and Leases after 15 s: less than this harms nothing. */
const skewMsMax = 5_000;
/** From here on tokens and certificates fail. */
const skewMsBroken = 60_000;

export const clockChecks: readonly Check[] = [
  { subject: 'the clock of this machine', needs: ['clock'], find: localFindings },
  { subject: 'the clocks of leaders', needs: ['clock', 'leases'], find: leaderFindings },
  { subject: 'the clocks of nodes', needs: ['clock', 'nodeLeases'], find: nodeFindings },
];

function localFindings({ clock, server }: ClusterFacts): readonly Found[] {
  const { serverMs, localMs, toleranceMs } = factValue(clock);
  const skewMs = localMs - serverMs;
  if (Math.abs(skewMs) <= skewMsMax + toleranceMs) return [];
  const object = { kind: 'APIServer', name: server.url };
  const detail = `the clock of this machine is ${direction(skewMs)} that of the API server`;
  return [{ code: 'ClockSkew', severity: severityOf(skewMs), object, detail }];
}

function leaderFindings(facts: ClusterFacts): readonly Found[] {
  return aheadOf(factValue(facts.lists.leases), 'Lease', facts);
}

function nodeFindings(facts: ClusterFacts): readonly Found[] {
  return aheadOf(factValue(facts.lists.nodeLeases), 'Node', facts).map((found) => ({
    ...found,
    object: { kind: 'Node', name: found.object.name },
  }));
}

/** A Lease was renewed in the past; a later time shows that the clock of its holder is ahead. A clock that is behind looks like a late renewal. */
function aheadOf(leases: readonly Lease[], kind: string, { clock, nowMs }: ClusterFacts): readonly Found[] {
  const read = factValue(clock);
  return leases.flatMap((lease) => {
    const renewedMs = parseTimestamp(lease.spec?.renewTime);
    if (renewedMs === undefined) return [];
    const aheadMs = renewedMs - serverNowMs(read, nowMs);
    if (aheadMs <= skewMsMax + read.toleranceMs) return [];
    const detail = `renewed by a clock that is at least ${direction(aheadMs)} that of the API server`;
    return [{ code: 'ClockSkew', severity: severityOf(aheadMs), object: objectOf(kind, lease), detail }];
  });
}

/** The time of the server when the local clock shows `nowMs`. */
export function serverNowMs({ serverMs, localMs }: ServerClock, nowMs: number): number {
  return nowMs + (serverMs - localMs);
}

function direction(skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return `${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'}`;
}

function severityOf(skewMs: number): 'error' | 'warning' {
  return Math.abs(skewMs) >= skewMsBroken ? 'error' : 'warning';
}
