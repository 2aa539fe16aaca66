/**
 * The group `events.k8s.io/v1`. Its events are the events of the core group under other field names: the server stores them
 * in the core form and converts them without loss in both directions (`event-conversion.ts`).
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { eventsGroupEventKind } from './event.ts';

export const eventsKinds: readonly ServedKind[] = [anyKind(eventsGroupEventKind)];
