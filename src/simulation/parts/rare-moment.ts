import type { ActionKind } from '../part.ts';

/** A sequence of actions that random ones hardly ever produce, and that is drawn apart from them. */
export function rareMoment(name: string, draw: ActionKind['draw'], run: ActionKind['run']): ActionKind {
  return { name, weight: 1, isRare: true, isFault: true, draw, run };
}
