import type { RegistryEvent } from './registry.ts';

/** The estimated size of an event besides its object. */
const overheadBytes = 64;

/** The estimated memory of an event that is queued for a reader. */
export function eventBytes(event: RegistryEvent): number {
  return event.type === 'BOOKMARK' ? overheadBytes : event.snapshot.json.length + overheadBytes;
}
