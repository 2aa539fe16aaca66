import type { Cluster } from '../../../cluster/cluster.ts';
import {
  type BackingImage,
  type BackingImageSpec,
  backingImages,
} from '../../../kube/stowage/backing-image.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { type Clock, realClock } from '../../../runtime/clock.ts';
import { CliError } from '../../errors/cli-error.ts';
import { logForReading } from '../../flags/log-flags.ts';
import { byteText } from '../../output/byte-text.ts';
import { progressOf } from '../../output/progress-of.ts';
import { withDisks } from '../with-disks.ts';
import { sendRest, UploadError, type UploadPlace, uploadedBytes } from './agent-upload.ts';
import { createBackingImage } from './create.ts';
import { durationIn, type NewImageFlags, placementIn, requireImageName } from './image-flags.ts';
import { type LocalImage, readLocalImage } from './local-image.ts';
import { type UploadStage, uploadStage } from './upload-place.ts';
import { UploadTokens } from './upload-token.ts';

export interface UploadImageFlags extends NewImageFlags {
  readonly timeout?: string;
}

const timeoutDefaultMs = 10 * 60_000;
const intervalMs = 500;

/** `stowage disks image upload`. */
export async function uploadImage(name: string, path: string, flags: UploadImageFlags): Promise<void> {
  requireImageName(name);
  const placement = placementIn(flags);
  const patienceMs = durationIn('--timeout', flags.timeout, timeoutDefaultMs);
  const progress = progressOf(logForReading(flags));
  try {
    const file = await readLocalImage(path, (bytes) => progress.tell(`${path}: ${byteText(bytes)} read`));
    await withDisks(flags, (cluster) =>
      new ImageUpload(cluster, name, file, {
        clock: realClock,
        patienceMs,
        tokens: UploadTokens.ofUser(process.env),
        onProgress: (text) => progress.tell(`image ${name}: ${text}`),
      }).run(placement),
    );
  } finally {
    progress.end();
  }
  process.stdout.write(`image/${name} ready\n`);
}

export interface ImageUploadOptions {
  readonly clock: Clock;
  /** How long to wait while nothing moves. */
  readonly patienceMs: number;
  readonly tokens: UploadTokens;
  readonly onProgress: (text: string) => void;
}

/**
 * Creates the image, waits for the disk of its first copy, sends the bytes to the agent there, and waits until the agent has verified them. Whatever
 * breaks, the next attempt continues after the stored bytes; so does another call.
 */
export class ImageUpload {
  readonly #cluster: Cluster;
  readonly #name: string;
  readonly #file: LocalImage;
  readonly #options: ImageUploadOptions;
  #deadlineMs = 0;
  #sentBytes = 0;

  constructor(cluster: Cluster, name: string, file: LocalImage, options: ImageUploadOptions) {
    this.#cluster = cluster;
    this.#name = name;
    this.#file = file;
    this.#options = options;
  }

  async run(placement: BackingImageSpec): Promise<void> {
    const { tokens } = this.#options;
    const existing = await undefinedIfNotFound(
      this.#cluster.resource(backingImages).get({ name: this.#name }),
    );
    const { image, token } =
      existing === undefined ? await this.#create(placement) : await this.#adopt(existing);
    this.#moved();
    await this.#untilReady(image.metadata?.uid, token);
    await tokens.delete(image.spec?.source?.upload?.tokenSHA256 ?? '');
  }

  async #create(placement: BackingImageSpec): Promise<StartedUpload> {
    const { token, hash } = await this.#options.tokens.add();
    const { checksum, sizeBytes } = this.#file;
    const source = { upload: { tokenSHA256: hash } };
    const spec = { source, checksum, expectedSize: sizeBytes, ...placement };
    return { image: await createBackingImage(this.#cluster, this.#name, spec), token };
  }

  /** An upload that was interrupted goes on; any other image of the name is not touched. */
  async #adopt(image: BackingImage): Promise<StartedUpload> {
    const { source, checksum } = image.spec ?? {};
    const remedy = `choose another name, or delete it with stowage disks image delete ${this.#name}`;
    if (source?.upload === undefined || checksum !== this.#file.checksum)
      throw new CliError(`image ${this.#name} exists already, with other data; ${remedy}`);
    const token = await this.#options.tokens.find(source.upload.tokenSHA256 ?? '');
    // The agent has all of the data: nothing has to be sent, and no token is needed.
    return { image, token };
  }

  async #untilReady(uid: string | undefined, token: string | undefined): Promise<void> {
    for (;;) {
      const stage = await uploadStage(this.#cluster, this.#name, uid);
      switch (stage.kind) {
        case 'ready':
          return;
        case 'failed':
          throw new CliError(
            `image ${this.#name}: ${stage.message}; delete it with stowage disks image delete ${this.#name}, and upload it again`,
          );
        case 'waiting':
          await this.#pause(stage.message);
          break;
        case 'place':
          await this.#sendTo(stage, token);
          break;
      }
    }
  }

  async #sendTo(
    { address, node }: Extract<UploadStage, { readonly kind: 'place' }>,
    token: string | undefined,
  ): Promise<void> {
    if (token === undefined)
      throw new CliError(
        `image ${this.#name} is being uploaded by another user or from another machine; wait for it, or delete it with stowage disks image delete ${this.#name}`,
      );
    const place: UploadPlace = { ...address, imageName: this.#name, token };
    const { signal } = new AbortController();
    try {
      const { bytes, isComplete } = await uploadedBytes(place, signal);
      if (isComplete || bytes >= this.#file.sizeBytes) {
        await this.#pause(`node ${node} verifies the data`);
        return;
      }
      const onProgress = (sent: number) => this.#report(sent, node);
      await sendRest(place, this.#file, { startBytes: bytes, onProgress }, signal);
    } catch (error) {
      if (!(error instanceof UploadError)) throw error;
      if (!error.isPassing) throw new CliError(`image ${this.#name}: ${error.message}`, 1, { cause: error });
      await this.#pause(error.message);
    }
  }

  #report(sent: number, node: string): void {
    if (sent > this.#sentBytes) this.#moved();
    this.#sentBytes = Math.max(sent, this.#sentBytes);
    const { sizeBytes } = this.#file;
    const percent = Math.floor((sent / sizeBytes) * 100);
    this.#options.onProgress(
      `${byteText(sent)} of ${byteText(sizeBytes)} (${percent} %) sent to node ${node}`,
    );
  }

  #moved(): void {
    this.#deadlineMs = this.#options.clock.monotonicMs() + this.#options.patienceMs;
  }

  async #pause(message: string): Promise<void> {
    const { clock, onProgress } = this.#options;
    if (clock.monotonicMs() >= this.#deadlineMs)
      throw new CliError(
        `image ${this.#name} is not ready within --timeout: ${message}; call the command again to go on`,
      );
    onProgress(message);
    await clock.sleep(intervalMs, new AbortController().signal);
  }
}

interface StartedUpload {
  readonly image: BackingImage;
  /** Undefined if the upload was started elsewhere. */
  readonly token: string | undefined;
}
