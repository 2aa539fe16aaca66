import { mayMakeCopy } from '../../../engine/disks/images/may-make-copy.ts';
import { fileSystemReason, isDiskFull } from '../../../io/files/file-system-reason.ts';
import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import { onAbort } from '../../../runtime/abort.ts';
import { type AgentParts, dataFolderOn } from '../agent-parts.ts';
import type { CopyTasks } from '../copy-tasks.ts';
import type { DataFolder, DataFolderState } from '../files/data-folder.ts';
import type { AgentDisk } from '../status/agent-disks.ts';
import {
  type AgentAnswer,
  forbiddenAnswer,
  offsetHeaders,
  type UploadRequest,
} from '../transfer/agent-answer.ts';
import { hasTokenHash } from '../transfer/bearer-token.ts';
import { type ByteSource, TransferError } from '../transfer/byte-source.ts';
import { type ContentRange, parseContentRange } from '../transfer/content-range.ts';
import { fillPart } from '../transfer/fill-part.ts';
import { limitOf } from './copy-attempt.ts';
import { CopyProgress } from './copy-progress.ts';
import { writeCopyStatus } from './copy-status.ts';
import { finishCopy } from './finish-copy.ts';
import type { ImageReader } from './image-reader.ts';

export interface ImageUploadsOptions {
  readonly parts: AgentParts;
  readonly reader: ImageReader;
  /** Called when an upload has ended. */
  readonly onEnd: (imageName: string, diskUUID: string) => void;
  /** Shared with the loop over copies, which stops an upload before it removes a folder. */
  readonly tasks: CopyTasks;
}

/**
 * Receives images from clients. An upload may be sent in several requests; each continues where the one before ended. What was received is
 * durable when a request ends, also if it breaks off.
 */
export class ImageUploads {
  readonly #options: ImageUploadsOptions;

  constructor(options: ImageUploadsOptions) {
    this.#options = options;
  }

  /** Undefined if the token is not that of an upload of this image. */
  async state(imageName: string, token: string): Promise<AgentAnswer | undefined> {
    const image = await this.#imageFor(imageName, token);
    if (image === undefined) return undefined;
    const place = await this.#placeOf(image);
    return 'status' in place ? place : stateAnswer(place.state);
  }

  async receive(request: UploadRequest): Promise<AgentAnswer> {
    const image = await this.#imageFor(request.imageName, request.token);
    if (image === undefined) return forbiddenAnswer;
    const range = rangeOf(request);
    if ('status' in range) return range;
    const place = await this.#placeOf(image);
    if ('status' in place) return place;
    if (place.state.dataBytes !== undefined) return stateAnswer(place.state);
    const { tasks } = this.#options;
    const key = `${request.imageName}/${place.disk.uuid}`;
    if (tasks.has(key))
      return {
        status: 409,
        message: `another upload of ${request.imageName} is in progress; wait for its end`,
      };
    try {
      return await tasks.run(key, (stop) => this.#receiveRange(image, place, { range, request }, stop));
    } finally {
      this.#options.parts.onFilesChanged();
      this.#options.onEnd(request.imageName, place.disk.uuid);
    }
  }

  async #receiveRange(
    image: BackingImage,
    { folder, disk, state }: UploadPlace,
    { range, request }: { readonly range: ContentRange; readonly request: UploadRequest },
    signal: AbortSignal,
  ): Promise<AgentAnswer> {
    const { parts } = this.#options;
    const isOther = state.identity.validator !== validatorOf(range);
    const received = isOther ? 0 : receivedBytes(state);
    if (range.start !== 0 && range.start !== received) return wrongStart(range, received);
    const progress = this.#progress(image, disk, range);
    const onProgress = (done: number) => progress.report(done, range.totalBytes);
    const { identity } = state;
    const stopListening = signal.aborted ? request.cancel : onAbort(signal, request.cancel);
    try {
      const limit = await limitOf(parts, { image, disk }, signal);
      if (range.totalBytes > limit.bytes)
        return {
          status: 413,
          message: `the image has ${range.totalBytes} bytes, and at most ${limit.bytes} may be used: ${limit.remedy}`,
        };
      const filled = await fillPart(
        bodySource(range, request.body),
        { folder, identity, limit, onProgress },
        signal,
      );
      if (filled.bytes < range.totalBytes)
        return { status: 202, message: 'received', headers: offsetHeaders(filled.bytes, false) };
      await finishCopy(folder, image, { bytes: filled.bytes }, signal);
      return { status: 201, message: 'complete', headers: offsetHeaders(filled.bytes, true) };
    } catch (error) {
      if (signal.aborted) return { status: 409, message: 'the image is being deleted, or the agent stops' };
      return await this.#failure(image, disk, error);
    } finally {
      stopListening();
      await progress.settled();
    }
  }

  /** Wrong data is reported to the client and in the status; the client may send the image again. */
  async #failure(image: BackingImage, disk: AgentDisk, error: unknown): Promise<AgentAnswer> {
    if (isDiskFull(error)) return { status: 507, message: fileSystemReason(error) };
    if (!(error instanceof TransferError)) throw error;
    if (error.isPermanent) {
      const { context } = this.#options.parts;
      const message = `the upload was refused: ${error.message}`;
      await writeCopyStatus(context, image, disk.uuid, { state: 'starting', message });
    }
    return { status: error.isPermanent ? 422 : 400, message: error.message };
  }

  #progress(image: BackingImage, disk: AgentDisk, range: ContentRange): CopyProgress {
    const { context } = this.#options.parts;
    let current = image;
    return new CopyProgress({
      clock: context.clock,
      expectedBytes: range.totalBytes,
      write: async (percent) => {
        const report = { state: 'in-progress', progress: percent } as const;
        current = await writeCopyStatus(context, current, disk.uuid, report);
      },
      onError: (error) =>
        context.report({ controller: 'disk-agent', key: image.metadata?.name ?? '', error }),
    });
  }

  /** The image, if the token is that of its upload. */
  async #imageFor(name: string, token: string): Promise<BackingImage | undefined> {
    return await this.#options.reader.find(name, ({ spec }) =>
      hasTokenHash(token, [spec?.source?.upload?.tokenSHA256]),
    );
  }

  async #placeOf(image: BackingImage): Promise<UploadPlace | AgentAnswer> {
    const { parts } = this.#options;
    const { name = '', uid, deletionTimestamp } = image.metadata ?? {};
    if (deletionTimestamp !== undefined) return { status: 409, message: `${name} is being deleted` };
    for (const disk of parts.disks.all) {
      if (!mayMakeCopy(image, disk.uuid, parts.caches.schedules.get(disk.uuid))) continue;
      const folder = dataFolderOn(parts, disk, { kind: 'BackingImage', name });
      const state = await folder.inspect();
      if (state.kind === 'known' && state.identity.uid === uid) return { disk, folder, state };
    }
    return {
      status: 409,
      message: `${name} waits for no upload on node ${parts.nodeName}; its status.diskFileStatusMap says which disks it is on`,
      headers: { 'Retry-After': '1' },
    };
  }
}

interface UploadPlace {
  readonly disk: AgentDisk;
  readonly folder: DataFolder;
  readonly state: Extract<DataFolderState, { kind: 'known' }>;
}

function receivedBytes({ identity, partBytes }: UploadPlace['state']): number {
  return Math.min(identity.receivedBytes ?? 0, partBytes);
}

function stateAnswer(state: UploadPlace['state']): AgentAnswer {
  const { dataBytes } = state;
  if (dataBytes !== undefined)
    return { status: 200, message: 'complete', headers: offsetHeaders(dataBytes, true) };
  return { status: 200, message: 'incomplete', headers: offsetHeaders(receivedBytes(state), false) };
}

/** The range that a request sends; the whole image without a Content-Range. */
function rangeOf({ contentRange, contentLength }: UploadRequest): ContentRange | AgentAnswer {
  if (contentLength === 0)
    return { status: 400, message: 'the body is empty; an image needs at least one byte' };
  if (contentRange === undefined) return { start: 0, endExclusive: contentLength, totalBytes: contentLength };
  const range = parseContentRange(contentRange);
  if (range === undefined)
    return {
      status: 400,
      message: 'Content-Range must be bytes START-END/TOTAL, with numbers that fit together',
    };
  if (range.endExclusive - range.start === contentLength) return range;
  return {
    status: 400,
    message: `Content-Range has ${range.endExclusive - range.start} bytes, and Content-Length is ${contentLength}`,
  };
}

function wrongStart({ start }: ContentRange, received: number): AgentAnswer {
  return {
    status: 409,
    message: `${received} bytes are there, and the request begins at ${start}; continue at ${received}, or begin at 0`,
    headers: offsetHeaders(received, false),
  };
}

/** An upload of another length is another one. */
function validatorOf({ totalBytes }: ContentRange): string {
  return `upload of ${totalBytes} bytes`;
}

function bodySource(range: ContentRange, chunks: AsyncIterable<Uint8Array>): ByteSource {
  return {
    open: async () => ({
      startsAt: range.start,
      totalBytes: range.endExclusive,
      validator: validatorOf(range),
      chunks: received(chunks),
      close: () => {},
    }),
  };
}

/** A client that disconnects has sent too little, which is its own error. */
async function* received(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw new TransferError('the request broke off', { isPermanent: false, cause: error });
  }
}
