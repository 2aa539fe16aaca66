import type { ProcessMemory } from './process-memory.ts';

/** A measured server, in its own processes. */
export interface MeasuredServer {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** PEM; undefined if the certificate is not checked. */
  readonly authority: string | undefined;
  readonly token: string;
  /** From the start of the process to the first response. */
  readonly startMs: number;
  /** The memory of all its processes. */
  memory(): ProcessMemory;
  close(): Promise<void>;
}
