import type { DataFolder } from '../files/data-folder.ts';

/** The responses of the agent's server. */
export interface AgentAnswer {
  readonly status: number;
  /** A message for users: the whole body, unless there is data. */
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Data that a client may read. */
export interface ReadableData {
  readonly folder: DataFolder;
  readonly bytes: number;
  /** Bytes on the disk; 0 if nothing was ever written. */
  readonly occupiedBytes: number;
  /** Undefined for a replica, whose data changes. */
  readonly sha512: string | undefined;
}

export interface UploadRequest {
  readonly imageName: string;
  readonly token: string;
  readonly contentRange: string | undefined;
  readonly contentLength: number;
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the body without a delay. */
  cancel(): void;
}

/** The operations that the server offers. Callers have a token, which has not been checked. */
export interface ServedData {
  /** The data, or why the caller does not get it. */
  read(kind: 'Replica' | 'BackingImage', name: string, token: string): Promise<ReadableData | AgentAnswer>;
  /** How much of an upload is there; undefined if the token is not that of an upload of the image. */
  uploadState(imageName: string, token: string): Promise<AgentAnswer | undefined>;
  upload(request: UploadRequest): Promise<AgentAnswer>;
}

/** The same answer for a wrong token and for a name that does not exist, so that names can't be guessed. */
export const forbiddenAnswer: AgentAnswer = {
  status: 403,
  message: 'the token is not valid for this image or replica',
};

/** How much is there. */
export function offsetHeaders(bytes: number, isComplete: boolean): Readonly<Record<string, string>> {
  return { 'Upload-Offset': String(bytes), 'Upload-Complete': isComplete ? '?1' : '?0' };
}
