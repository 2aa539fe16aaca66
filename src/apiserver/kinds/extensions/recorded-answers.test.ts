import { expect, test } from 'vitest';
import type { StatusCause } from '../../../kube/api/status.ts';
import { answerOf, type Replayed, readRecorded, replay } from '../workloads/testing/recorded.ts';
import { findKind } from '../workloads/testing/tables.ts';
import { extensionKinds } from './index.ts';

const writes = readRecorded(new URL('./testing/definitions.ndjson', import.meta.url));

test.each(writes)('a real server answered the same to $name', (write) => {
  const kind = findKind(extensionKinds, write.object);
  expect(inAnyOrder(replay(kind, write))).toEqual(inAnyOrder(answerOf(kind, write)));
});

/** Schemas are walked over in Go's order of maps, which is none; nor does it matter how often something is said. */
function inAnyOrder({ causes, warnings, ...answer }: Replayed): object {
  return {
    ...answer,
    ...(causes && { causes: new Set(causes.map(asText)) }),
    ...(warnings && { warnings: new Set(warnings) }),
  };
}

function asText({ reason, field, message }: StatusCause): string {
  return `${reason} ${field}: ${message}`;
}
