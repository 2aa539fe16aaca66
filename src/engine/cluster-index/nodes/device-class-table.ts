import { setOrDelete } from '../../maps.ts';
import type { DeviceClassRecord } from '../../records/device-class-record.ts';

/** DeviceClasses by name, and the extended resources that they serve. */
export class DeviceClassTable {
  readonly #classes = new Map<string, DeviceClassRecord>();
  /** How many classes serve each extended resource. */
  readonly #serving = new Map<string, number>();

  get(name: string): DeviceClassRecord | undefined {
    return this.#classes.get(name);
  }

  set(name: string, record: DeviceClassRecord | undefined): void {
    this.#count(this.#classes.get(name), -1);
    this.#count(record, 1);
    setOrDelete(this.#classes, name, record);
  }

  /** Whether a DeviceClass names the extended resource. Then Kubernetes serves it by devices on every node that does not advertise it. */
  serves(resource: string): boolean {
    return this.#serving.has(resource);
  }

  #count(record: DeviceClassRecord | undefined, change: number): void {
    const resource = record?.extendedResourceName ?? '';
    if (resource === '') return;
    const count = (this.#serving.get(resource) ?? 0) + change;
    setOrDelete(this.#serving, resource, count === 0 ? undefined : count);
  }
}
