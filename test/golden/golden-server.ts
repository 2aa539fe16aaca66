import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse, stringify } from 'yaml';
import { EmbeddedServer } from '../../src/apiserver/embedded-server.ts';
import { EmbeddedCluster } from '../../src/cluster/embedded-cluster.ts';
import { ownDefinitions } from '../../src/embedded/own-definitions.ts';
import { serviceAccounts } from '../../src/kube/resources.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { idsFrom } from '../../src/runtime/ids.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import { temporaryFolder } from '../up/stowage-process.ts';

/** What is stored is so old, so that ages in hours are the same in every run. */
const ageMs = 2.5 * 60 * 60_000;

/** An API server in the process of the test, with Stowage's kinds and without controllers. */
export class GoldenServer implements AsyncDisposable {
  readonly cluster: EmbeddedCluster;
  readonly folder: string;
  readonly #server: EmbeddedServer;

  private constructor(server: EmbeddedServer) {
    this.#server = server;
    this.cluster = new EmbeddedCluster({ registry: server.registry, manager: 'test' });
    this.folder = mkdtempSync(join(tmpdir(), 'stowage-golden-'));
  }

  static async start(): Promise<GoldenServer> {
    const server = await EmbeddedServer.start({
      clock: new VirtualClock(realClock.nowMs() - ageMs),
      ids: idsFrom(seededRandom('golden')),
      random: seededRandom('golden'),
      definitions: await ownDefinitions(),
      onError: (error) => expect.fail(String(error)),
    });
    return new GoldenServer(server);
  }

  get url(): string {
    return this.#server.url;
  }

  async adminKubeconfig(): Promise<string> {
    const path = join(this.folder, 'admin.kubeconfig');
    await this.#server.writeKubeconfig(path);
    return path;
  }

  /** The kubeconfig of an account without any role. */
  async powerlessKubeconfig(): Promise<string> {
    const account = { namespace: 'default', name: 'powerless' };
    await this.cluster.resource(serviceAccounts).create({ metadata: account });
    const { token } = await this.#server.issueToken(account, { audiences: [], expirationSeconds: 86_400 });
    const path = join(temporaryFolder(), 'kubeconfig');
    await this.#server.writeKubeconfig(path);
    const content = parse(readFileSync(path, 'utf8'));
    content.users[0].user = { token };
    writeFileSync(path, stringify(content));
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
