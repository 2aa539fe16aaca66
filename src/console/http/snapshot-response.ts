import type { GeneratedResponse } from '../../apiserver/server/http/http-exchange.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { textOf } from '../../kube/wire.ts';
import { mayList, type Rights } from '../access/rights.ts';
import type { ConsoleAnswers } from '../answers/console-answers.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { consoleKinds, isDiskKind, resourceOfKind } from '../state/console-objects.ts';
import { snapshotHead, snapshotTail } from '../state/snapshot-file.ts';
import type { ConsoleRecord } from '../wire/answers.ts';
import { securityHeaders } from './console-responses.ts';

/** Objects in one piece; between two pieces the process does other work. */
const objectsPerPiece = 200;

export interface SnapshotInput {
  readonly state: ClusterState;
  readonly rights: Rights;
  readonly answers: Pick<ConsoleAnswers, 'redacted' | 'others'>;
  /** The viewer's own, for what the console does not follow. */
  readonly cluster: Cluster;
  readonly record: ConsoleRecord;
  readonly nowMs: number;
}

/** The state that the page shows, as a file for `stowage console`: what the viewer may list, without secrets. */
export function snapshotResponse(input: SnapshotInput): GeneratedResponse {
  const name = `stowage-${new Date(input.nowMs).toISOString().slice(0, 19).replaceAll(':', '-')}.json`;
  const headers = {
    ...securityHeaders,
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json',
    'Content-Disposition': `attachment; filename="${name}"`,
  };
  return { status: 200, headers, pieces: pieces(input) };
}

async function* pieces({ state, rights, answers, cluster, record, nowMs }: SnapshotInput) {
  yield Buffer.from(snapshotHead(nowMs));
  let texts: string[] = [];
  const textOfObject = (object: KubeObject) => `${JSON.stringify(answers.redacted(object))},\n`;
  for (const object of visibleObjects(state, rights)) {
    texts.push(textOfObject(object));
    if (texts.length < objectsPerPiece) continue;
    yield Buffer.from(texts.join(''));
    texts = [];
  }
  const { objects, unread } = await answers.others(cluster);
  const tail = snapshotTail({ ...record, isComplete: record.isComplete && unread.length === 0 });
  yield Buffer.from([...texts, ...objects.map(textOfObject), tail].join(''));
}

/** The objects that the viewer may list, with kind and version, which informers leave out. */
function* visibleObjects(state: ClusterState, rights: Rights): Iterable<KubeObject> {
  for (const kind of consoleKinds) {
    const resource = resourceOfKind(kind);
    const names = { apiVersion: apiVersionOf(resource), kind: resource.kind };
    // A copy: objects come and go while the file is sent.
    const all = isDiskKind(kind) ? [...state.disks[kind].values()] : [...state.snapshot.values(kind)];
    for (const object of all)
      if (mayList(rights, resource.plural, textOf(object.metadata?.namespace))) yield { ...object, ...names };
  }
}
