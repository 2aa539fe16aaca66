import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtInKindCatalog } from '../../../src/apiserver/kinds/built-in-kinds.ts';
import type { StoredObject } from '../../../src/apiserver/kinds/served-kind.ts';
import type { RecordedWrite } from '../../../src/apiserver/kinds/testing/recorded-writes.ts';
import type { Status } from '../../../src/kube/api/meta.ts';
import { addressOf, HttpClient } from '../../fidelity/http-client.ts';

/** The answer of the server to a write. */
export interface SentWrite {
  readonly status: number;
  readonly body: StoredObject | Status;
  readonly warnings: readonly string[];
  /** The uid of the object, if the server created it. */
  readonly uid: string | undefined;
}

/** The uid in the recordings. Labels and selectors of Jobs contain it. */
export const recordedUid = '5f0e1f86-0b1c-4a9e-9d55-7a0c6f1d2e3b';

interface Reply {
  readonly status: number;
  readonly body: StoredObject;
  readonly warnings: readonly string[];
}

const readyMaxMs = 120_000;

/** Sends the writes of the recordings to a kube-apiserver. Every write leaves the server as it was. */
export class WriteSender {
  readonly #http: HttpClient;
  readonly #catalog = builtInKindCatalog();

  constructor(kubeconfig: string) {
    this.#http = new HttpClient(addressOf(readFileSync(kubeconfig, 'utf8')));
  }

  close(): void {
    this.#http.close();
  }

  /** Resolves when the server has created the namespace of the recordings. */
  async ready(): Promise<void> {
    for (let waitedMs = 0; waitedMs < readyMaxMs; waitedMs += 100) {
      if ((await this.#call('GET', '/api/v1/namespaces/default')).status === 200) return;
      await sleep(100);
    }
    throw new Error('the server has no namespace default');
  }

  async send(write: RecordedWrite): Promise<SentWrite> {
    const path = this.#collectionOf(write.object);
    if (write.old === undefined) {
      const { status, body, warnings } = await this.#call('POST', `${path}?dryRun=All`, write.object);
      return { status, body, warnings, uid: body.metadata?.uid };
    }
    const old = await this.#create(path, write.old);
    try {
      return await this.#change(path, write, old);
    } finally {
      await this.#remove(`${path}/${write.old.metadata.name}`);
    }
  }

  async #change(
    path: string,
    { does, old, object }: RecordedWrite,
    existing: StoredObject,
  ): Promise<SentWrite> {
    const { uid, resourceVersion } = existing.metadata;
    const next: StoredObject = JSON.parse(JSON.stringify(object).replaceAll(recordedUid, uid ?? ''));
    if (object.metadata.uid === old?.metadata.uid) delete next.metadata.uid;
    next.metadata.resourceVersion = resourceVersion;
    const subresource = does === 'status' ? '/status' : '';
    const target = `${path}/${existing.metadata.name}${subresource}?dryRun=All`;
    const { status, body, warnings } = await this.#call('PUT', target, next);
    return { status, body, warnings, uid };
  }

  /** A server ignores the status of a new object. */
  async #create(path: string, old: StoredObject & { readonly status?: unknown }): Promise<StoredObject> {
    const created = await this.#must('POST', path, creatable(old));
    if (old.status === undefined || Object.keys(old.status as object).length === 0) return created;
    return await this.#must('PUT', `${path}/${old.metadata.name}/status`, { ...created, status: old.status });
  }

  async #remove(path: string): Promise<void> {
    await this.#call('DELETE', path, { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
    const { status, body } = await this.#call('GET', path);
    if (status === 404) return;
    // No controllers run: what a finalizer waits for never happens.
    if (body.kind === 'Namespace')
      await this.#call('PUT', `${path}/finalize`, { ...body, spec: { finalizers: [] } });
    else await this.#call('PATCH', path, { metadata: { finalizers: null } }, 'application/merge-patch+json');
  }

  #collectionOf({ apiVersion, kind, metadata }: StoredObject): string {
    const served = this.#catalog.byKind(apiVersion, kind);
    if (served === undefined) throw new Error(`there is no kind ${apiVersion} ${kind}`);
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const namespace = served.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
    return `${root}${namespace}/${served.plural}`;
  }

  async #must(method: string, path: string, body: unknown): Promise<StoredObject> {
    const reply = await this.#call(method, path, body);
    if (reply.status < 300) return reply.body;
    throw new Error(`${method} ${path}: ${(reply.body as Status).message}`);
  }

  async #call(method: string, path: string, body?: unknown, type = 'application/json'): Promise<Reply> {
    const reply = await this.#http.call({
      method,
      path,
      headers: { 'content-type': type, accept: 'application/json' },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
    });
    const header = String(reply.headers.warning ?? '');
    const warnings = [...header.matchAll(/299 - ("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
      JSON.parse(text ?? '""'),
    );
    return { status: reply.status, body: JSON.parse(reply.text), warnings };
  }
}

/** The object without what only the server may set. */
function creatable(old: StoredObject): StoredObject {
  const object = structuredClone(old) as StoredObject & {
    spec?: { manualSelector?: boolean; selector?: unknown };
  };
  delete object.metadata.uid;
  delete object.metadata.resourceVersion;
  if (object.kind !== 'Job' || object.spec?.manualSelector === true) return object;
  delete object.spec?.selector;
  return withoutJobLabels(object);
}

const jobLabels = [
  'controller-uid',
  'job-name',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
];

function withoutJobLabels(job: StoredObject): StoredObject {
  return JSON.parse(JSON.stringify(job), (key, value) =>
    key === 'labels'
      ? Object.fromEntries(Object.entries(value).filter(([name]) => !jobLabels.includes(name)))
      : value,
  );
}
