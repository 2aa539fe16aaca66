import { Server, ServerCredentials } from '@grpc/grpc-js';
import { csiMethods, methodPath } from '../csi-methods.ts';

/** A gRPC server that answers every method with the bytes or the code that a test sets: what CsiServer would never send. */
export class RawGrpcServer {
  answer: Uint8Array | { readonly code: number; readonly details: string } = new Uint8Array();
  readonly #server = new Server();

  static async start(path: string): Promise<RawGrpcServer> {
    const raw = new RawGrpcServer();
    const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes);
    const asBytes = (bytes: Buffer): Uint8Array => bytes;
    for (const { rpc } of Object.values(csiMethods)) {
      const definition = {
        path: methodPath(rpc),
        requestStream: false,
        responseStream: false,
        requestSerialize: asBuffer,
        requestDeserialize: asBytes,
        responseSerialize: asBuffer,
        responseDeserialize: asBytes,
      } as const;
      raw.#server.register(
        definition.path,
        (_: unknown, callback: (error: object | null, bytes?: Uint8Array) => void) =>
          raw.answer instanceof Uint8Array ? callback(null, raw.answer) : callback(raw.answer),
        asBuffer,
        asBytes,
        'unary',
      );
    }
    await new Promise<void>((resolve, reject) => {
      raw.#server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    return raw;
  }

  stop(): void {
    this.#server.forceShutdown();
  }
}
