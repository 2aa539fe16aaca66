import type { IncomingRequest, OutgoingResponse } from '../../apiserver/server/http/http-exchange.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Event } from '../../kube/api/core.ts';
import { isReason } from '../../kube/api-error.ts';
import { coreEvents } from '../../kube/resources.ts';
import { mayList, namespacesOf, type Rights } from '../access/rights.ts';
import type { Viewer } from '../access/viewers.ts';
import type { AnswerView } from '../state/answer-view.ts';
import { viewOf } from '../state/view-of.ts';
import type { ConsoleRecord, PodAnswer, WaitingVolumesAnswer } from '../wire/answers.ts';
import { applyPlan, readAction } from './actions.ts';
import { AnswerCache } from './answer-cache.ts';
import { combinedQueue } from './combined-queue.ts';
import { combinedReservations } from './combined-reservations.ts';
import { visibleHistory, visibleRecord } from './console-record.ts';
import { jsonAnswer, jsonBytesAnswer, problemAnswer } from './console-responses.ts';
import type { ConsoleHandlerOptions } from './handler-options.ts';
import { limitedReservations } from './limited-reservations.ts';
import { readPlanQuestion } from './plan-question.ts';
import { PlanSlots } from './plan-slots.ts';
import { snapshotResponse } from './snapshot-response.ts';

type DataOptions = Pick<
  ConsoleHandlerOptions,
  'state' | 'history' | 'answers' | 'cluster' | 'frozen' | 'clock' | 'canWrite'
>;

/** The queue includes tried changes in clusters of up to this many nodes; in larger ones, the page requests them separately. */
const nodesTriedAtOnceMax = 500;
/** Namespaces of which a limited viewer gets the queue; each needs a separate index. */
const namespacesAnsweredMax = 20;

/** The answers for detail views. Each is computed over what the viewer may list. */
export class DataPages {
  readonly #options: DataOptions;
  readonly #cache: AnswerCache;
  readonly #plans = new PlanSlots();

  constructor(options: DataOptions) {
    this.#options = options;
    this.#cache = new AnswerCache(options.clock);
  }

  async respond(request: IncomingRequest, page: string, viewer: Viewer): Promise<OutgoingResponse> {
    const { rights } = viewer;
    const { query } = request;
    switch (page) {
      case 'queue':
        return jsonBytesAnswer(await this.#queue(rights, query.has('remedies')));
      case 'reservations':
        return jsonBytesAnswer(await this.#reservations(rights));
      case 'history':
        return jsonAnswer(visibleHistory(this.#options.history(), rights));
      case 'record':
        return jsonAnswer(this.#record(rights));
      case 'snapshot':
        return this.#snapshot(viewer);
      case 'plan':
        return jsonAnswer(await this.#plan(viewer, request));
      case 'act':
        return await this.#act(request, viewer);
      case 'pod':
        return await this.#pod(viewer, query.get('id') ?? '');
      case 'waitingvolumes':
        return jsonAnswer(this.#waitingVolumes(rights));
      case 'disk':
        return this.#disk(rights, query.get('id') ?? '');
      default:
        return problemAnswer(404, 'there is no such page');
    }
  }

  async #queue(rights: Rights, isAsked: boolean) {
    const { answers, state } = this.#options;
    const triesRemedies = isAsked || state.snapshot.count('Node') <= nodesTriedAtOnceMax;
    return await this.#cached(`queue ${triesRemedies} ${rights.key}`, async () =>
      combinedQueue(
        await Promise.all(this.#views(rights, 'pods').map((view) => answers.queue(view, { triesRemedies }))),
        this.#nowMs,
      ),
    );
  }

  async #reservations(rights: Rights) {
    const { answers } = this.#options;
    return await this.#cached(`reservations ${rights.key}`, async () =>
      limitedReservations(
        combinedReservations(
          this.#views(rights, 'persistentvolumeclaims').map((view) => answers.reservations(view)),
        ),
      ),
    );
  }

  async #plan({ rights, key, cluster: own }: Viewer, { query, closed: signal }: IncomingRequest) {
    const { answers, state, cluster } = this.#options;
    const question = readPlanQuestion(query);
    const [namespace = ''] = namespacesOf(rights, 'pods') ?? [];
    return await this.#plans.run(key, signal, async () => {
      const view = viewOf(state, { rights, namespace, nowMs: this.#nowMs });
      return await answers.plan(view, question, { cluster: own ?? cluster, signal });
    });
  }

  /** Carries out an action with the permissions of the viewer; without a token of the viewer, with those of the process. */
  async #act(request: IncomingRequest, { cluster: own }: Viewer): Promise<OutgoingResponse> {
    const { canWrite, cluster } = this.#options;
    const actor = own ?? cluster;
    if (!canWrite || actor === undefined)
      return problemAnswer(403, 'this console is read-only; start it with --console-write to allow changes');
    if (request.method !== 'POST') return problemAnswer(405, 'send this request by POST');
    await applyPlan(actor, readAction((await request.body('console')).toString('utf8')));
    return jsonAnswer({});
  }

  async #pod({ rights, cluster: own }: Viewer, id: string): Promise<OutgoingResponse> {
    const { state, answers, frozen, cluster } = this.#options;
    const [namespace = '', name = ''] = id.split('/');
    if (name === '') return problemAnswer(400, 'name the pod as NAMESPACE/NAME');
    const objects = mayList(rights, 'pods', namespace) ? state.pathObjects(id) : undefined;
    if (objects === undefined)
      return problemAnswer(404, `there is no pod ${id}, or you may not list pods there`);
    const events = frozen?.events ?? (await eventsOf(own ?? cluster, namespace, name));
    const view = viewOf(state, { rights, namespace, events, nowMs: this.#nowMs });
    const explanation = await answers.pod(view, id);
    if (explanation === undefined) return problemAnswer(404, `there is no pod ${id}`);
    const isClaimSeen = mayList(rights, 'persistentvolumeclaims', namespace);
    const seen = isClaimSeen ? objects : { ...objects, claims: [], claimCount: 0, isHeld: [] };
    return jsonAnswer({ path: state.paths.pathOf(seen), explanation } satisfies PodAnswer);
  }

  #disk(rights: Rights, id: string): OutgoingResponse {
    const { state, answers } = this.#options;
    const view = viewOf(state, { rights, namespace: '', nowMs: this.#nowMs });
    const disk = answers.disk(view, id);
    return disk === undefined ? problemAnswer(404, `there is no disk ${id}`) : jsonAnswer(disk);
  }

  #waitingVolumes(rights: Rights): WaitingVolumesAnswer {
    const { state, answers } = this.#options;
    return answers.waitingVolumes(viewOf(state, { rights, namespace: '', nowMs: this.#nowMs }));
  }

  #record(rights: Rights): ConsoleRecord {
    const { state, history } = this.#options;
    return visibleRecord(state, history(), rights);
  }

  #snapshot({ rights, cluster: own }: Viewer): OutgoingResponse {
    const { state, answers } = this.#options;
    const cluster = own ?? this.#options.cluster;
    if (cluster === undefined) return problemAnswer(404, 'this is a snapshot already; copy its file');
    return snapshotResponse({
      state,
      rights,
      answers,
      cluster,
      record: this.#record(rights),
      nowMs: this.#nowMs,
    });
  }

  get #nowMs(): number {
    const { frozen, clock } = this.#options;
    return frozen?.takenAtMs ?? clock.nowMs();
  }

  /** One view of everything, or one for each namespace that the viewer may see. */
  #views(rights: Rights, plural: string): readonly AnswerView[] {
    const { state } = this.#options;
    const namespaces = namespacesOf(rights, plural) ?? [''];
    return namespaces
      .slice(0, namespacesAnsweredMax)
      .map((namespace) => viewOf(state, { rights, namespace, nowMs: this.#nowMs }));
  }

  async #cached(key: string, make: () => Promise<unknown>): Promise<Buffer> {
    return await this.#cache.get(key, this.#options.state.rows.position, make);
  }
}

/** Events only add to the answer, so a missing permission is not an error. */
async function eventsOf(
  cluster: Cluster | undefined,
  namespace: string,
  name: string,
): Promise<readonly Event[]> {
  if (cluster === undefined) return [];
  try {
    const fieldSelector = `involvedObject.name=${name}`;
    return (await cluster.resource(coreEvents).list({ namespace, fieldSelector, limit: 100 })).items;
  } catch (error) {
    if (isReason(error, 'Forbidden', 'NotFound', 'BadRequest')) return [];
    throw error;
  }
}
