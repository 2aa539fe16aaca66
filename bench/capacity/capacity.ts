/** Whether published capacity can be relied on under load, and what a published capacity report costs the scheduler. */
import { capacityReportRows } from '../engine/capacity-reports.ts';
import type { Benchmark, Row } from '../harness.ts';
import { fill } from './fill.ts';

/** The sizes of the report that the host-path driver's authors published. */
const shapes = [
  { nodes: 10, pods: 1_000 },
  { nodes: 100, pods: 10_000 },
];

const capSecondsDefault = 60;

export const capacity: Benchmark = {
  name: 'capacity',
  summary:
    'pods that fill every node of a CSI driver: failed CreateVolume calls; and the cost of a published capacity report',
  async run(progress, { nodes, pods, cap = capSecondsDefault } = {}) {
    const rows: Row[] = [];
    const wanted = nodes === undefined || pods === undefined ? shapes : [{ nodes, pods }];
    for (const shape of wanted) {
      progress(`fill: ${shape.nodes} nodes, ${shape.pods} pods of 1 GiB`);
      rows.push(await fill({ ...shape, capMs: cap * 1000 }, progress));
    }
    return [...rows, ...capacityReportRows(progress)];
  },
};
