import type { Memory } from './process-memory.ts';

/** A server under measurement, in processes of its own. */
export interface Subject {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** PEM; undefined where the certificate is not checked. */
  readonly authority: string | undefined;
  readonly token: string;
  /** From the start of the process to the first answer. */
  readonly startMs: number;
  /** Of all its processes. */
  memory(): Memory;
  close(): Promise<void>;
}
