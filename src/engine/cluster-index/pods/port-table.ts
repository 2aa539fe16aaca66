import { anyIp, type HostPort, hostPortsOf } from '../../records/host-ports.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { NodeRow } from '../nodes/node-table.ts';
import type { OccupancyTable } from './occupancy.ts';

/** By address, how many pods of a node have a port there: more than one only where somebody forced it. */
type Takers = Map<string, number>;

/** Which ports of which nodes are taken. Looked up from the port: few nodes have any given one in use. */
export class PortTable implements OccupancyTable {
  readonly #byPort = new Map<string, Map<number, Takers>>();

  podAdded(row: NodeRow, { shape }: PodRecord): void {
    for (const port of hostPortsOf(shape)) this.#count(row, port, 1);
  }

  podRemoved(row: NodeRow, { shape }: PodRecord): void {
    for (const port of hostPortsOf(shape)) this.#count(row, port, -1);
  }

  /** The rows on which somebody has the port, at the same address or where either is any address. */
  *rowsUsing({ key, ip }: HostPort): Iterable<number> {
    for (const [row, takers] of this.#byPort.get(key) ?? []) if (isTaken(takers, ip)) yield row;
  }

  isUsedOn(row: number, { key, ip }: HostPort): boolean {
    const takers = this.#byPort.get(key)?.get(row);
    return takers !== undefined && isTaken(takers, ip);
  }

  #count(row: number, { key, ip }: HostPort, step: 1 | -1): void {
    const byRow = ensured(this.#byPort, key, () => new Map<number, Takers>());
    const takers = ensured(byRow, row, () => new Map<string, number>());
    const count = (takers.get(ip) ?? 0) + step;
    if (count > 0) takers.set(ip, count);
    else takers.delete(ip);
    if (takers.size === 0) byRow.delete(row);
    if (byRow.size === 0) this.#byPort.delete(key);
  }
}

/** Whoever is listed has the port; an entry without takers doesn't exist. */
function isTaken(takers: Takers, ip: string): boolean {
  return ip === anyIp || takers.has(ip) || takers.has(anyIp);
}

function ensured<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
