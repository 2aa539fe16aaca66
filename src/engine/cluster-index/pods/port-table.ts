import type { PodRecord } from '../../records/pod-record.ts';
import { anyIp, type HostPort, hostPortsOf } from '../../records/pod-shape/host-ports.ts';
import type { NodeRow } from '../nodes/node-table.ts';
import type { OccupancyTable } from './occupancy.ts';

/** How many pods of a node use a port, by address. More than one only if pods were assigned without the scheduler's check. */
type PortUsers = Map<string, number>;

/** The host ports in use on each node. Indexed by port, because few nodes use any given port. */
export class PortTable implements OccupancyTable {
  readonly #byPort = new Map<string, Map<number, PortUsers>>();

  podAdded(row: NodeRow, { shape }: PodRecord): void {
    for (const port of hostPortsOf(shape)) this.#count(row, port, 1);
  }

  podRemoved(row: NodeRow, { shape }: PodRecord): void {
    for (const port of hostPortsOf(shape)) this.#count(row, port, -1);
  }

  /** The rows with a pod that uses the port, at the same address or if either address is 0.0.0.0. */
  *rowsUsing({ key, ip }: HostPort): Iterable<number> {
    for (const [row, users] of this.#byPort.get(key) ?? []) if (isUsed(users, ip)) yield row;
  }

  isUsedOn(row: number, { key, ip }: HostPort): boolean {
    const users = this.#byPort.get(key)?.get(row);
    return users !== undefined && isUsed(users, ip);
  }

  #count(row: number, { key, ip }: HostPort, step: 1 | -1): void {
    const byRow = getOrCreate(this.#byPort, key, () => new Map<number, PortUsers>());
    const users = getOrCreate(byRow, row, () => new Map<string, number>());
    const count = (users.get(ip) ?? 0) + step;
    if (count > 0) users.set(ip, count);
    else users.delete(ip);
    if (users.size === 0) byRow.delete(row);
    if (byRow.size === 0) this.#byPort.delete(key);
  }
}

/** The map has no entries without users. */
function isUsed(users: PortUsers, ip: string): boolean {
  return ip === anyIp || users.has(ip) || users.has(anyIp);
}

function getOrCreate<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
