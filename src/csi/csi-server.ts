import { chmod } from 'node:fs/promises';
import {
  create,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/error-message.ts';
import type { Log } from '../runtime/log.ts';
import { checkRequest } from './checks/request-checks.ts';
import { socketPathOf } from './csi-address.ts';
import { CsiStatusError } from './csi-errors.ts';
import { methodPath } from './csi-methods.ts';
import { Controller, Identity, Node } from './generated/csi.ts';
import { Registration } from './generated/plugin-registration.ts';
import { type GrpcCode, grpcNumberOf } from './grpc-codes.ts';
import { messageText, withoutSecretsOf } from './message-text.ts';
import { CsiSocketError, releaseStaleSocket } from './server-socket.ts';
import { statusOf } from './status-of.ts';

/** gRPC's own default; CSI limits a request's maps to a few kilobytes each. */
const requestBytesMaxDefault = 4 * 1024 * 1024;

/** How long calls in progress may take when the server stops. */
const stopGraceMs = 10_000;

/** Only root and the owner connect, as kubelet does. */
const socketModeDefault = 0o600;

/** The context of a call that an implementation gets besides the request. */
export interface CsiCallContext {
  /** Aborts when the caller cancels the call, or its deadline passes. */
  readonly signal: AbortSignal;
}

/** The methods of one service. A method that is left out answers Unimplemented. Requests have all fields that CSI requires. */
export type ServiceMethods<Service extends DescService> = {
  readonly [Name in keyof Service['method']]?: Service['method'][Name] extends DescMethodUnary<
    infer In,
    infer Out
  >
    ? (request: MessageShape<In>, context: CsiCallContext) => Promise<MessageInitShape<Out>>
    : never;
};

export interface CsiServices {
  readonly identity: ServiceMethods<typeof Identity>;
  readonly controller?: ServiceMethods<typeof Controller>;
  readonly node?: ServiceMethods<typeof Node>;
}

/** The service that the kubelet calls on a separate socket before it calls a driver. */
export interface RegistrationServices {
  readonly registration: ServiceMethods<typeof Registration>;
}

export interface CsiServerOptions {
  /** `unix:///path` or an absolute path. */
  readonly address: string;
  /** The flag that the address comes from, for errors. */
  readonly addressSource?: string;
  readonly services: CsiServices | RegistrationServices;
  readonly clock: Clock;
  readonly log: Log;
  readonly requestBytesMax?: number;
  readonly socketMode?: number;
  /** Called with each answer. */
  readonly onAnswer?: ((answer: AnsweredCall) => void) | undefined;
}

export interface AnsweredCall {
  /** The path, such as `/csi.v1.Node/NodePublishVolume`. */
  readonly method: string;
  readonly code: GrpcCode;
  readonly seconds: number;
}

/** Serves CSI on a unix socket. Errors that implementations throw become gRPC codes here, and nowhere else. */
export class CsiServer {
  readonly path: string;
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #onAnswer: CsiServerOptions['onAnswer'];
  #stopping: Promise<void> | undefined;

  /** Resolves when the socket accepts connections; rejects if another process serves it. */
  static async start(options: CsiServerOptions): Promise<CsiServer> {
    const { address, addressSource = 'CSI endpoint', socketMode = socketModeDefault } = options;
    const path = socketPathOf(address, addressSource);
    await releaseStaleSocket(path);
    const server = new CsiServer(path, options);
    await server.#listen();
    await chmod(path, socketMode);
    return server;
  }

  private constructor(path: string, options: CsiServerOptions) {
    const { services, clock, log, requestBytesMax = requestBytesMaxDefault } = options;
    this.path = path;
    this.#clock = clock;
    this.#log = log;
    this.#onAnswer = options.onAnswer;
    this.#server = new Server({ 'grpc.max_receive_message_length': requestBytesMax });
    if ('registration' in services) {
      this.#add(Registration, services.registration);
      return;
    }
    this.#add(Identity, services.identity);
    if (services.controller !== undefined) this.#add(Controller, services.controller);
    if (services.node !== undefined) this.#add(Node, services.node);
  }

  /** Accepts no more calls, lets those in progress end within the grace period, then cancels them. Removes the socket. */
  stop(graceMs = stopGraceMs): Promise<void> {
    this.#stopping ??= new Promise((resolve) => {
      const timer = this.#clock.after(graceMs, () => this.#server.forceShutdown());
      this.#server.tryShutdown(() => {
        timer.cancel();
        resolve();
      });
    });
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
  }

  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(`unix:${this.path}`, ServerCredentials.createInsecure(), (error) => {
        if (error === null) resolve();
        else
          reject(
            new CsiSocketError(`cannot listen at ${this.path}: ${error.message}; check its directory`, {
              cause: error,
            }),
          );
      });
    });
  }

  #add<Service extends DescService>(service: Service, methods: ServiceMethods<Service>): void {
    const implementations = methods as Readonly<Record<string, Implementation | undefined>>;
    const served = service.methods.filter(isUnary).flatMap((rpc) => {
      const implementation = implementations[rpc.localName];
      return implementation === undefined ? [] : [{ rpc, implementation }];
    });
    // gRPC refuses to add a service without methods; without it, its methods are unimplemented too.
    if (served.length === 0) return;
    this.#server.addService(
      Object.fromEntries(served.map(({ rpc }) => [rpc.name, definitionOf(rpc)])),
      Object.fromEntries(
        served.map(({ rpc, implementation }) => [
          rpc.name,
          (call: RawCall, callback: sendUnaryData<Uint8Array>) => {
            void this.#answer(rpc, implementation, call).then((answer) =>
              'error' in answer ? callback(answer.error) : callback(null, answer.bytes),
            );
          },
        ]),
      ),
    );
  }

  /** Never rejects. */
  async #answer(rpc: DescMethodUnary, implementation: Implementation, call: RawCall): Promise<Answer> {
    const abort = new AbortController();
    call.once('cancelled', () => abort.abort());
    const startMs = this.#clock.monotonicMs();
    const answered = (code: GrpcCode) =>
      this.#onAnswer?.({
        method: methodPath(rpc),
        code,
        seconds: (this.#clock.monotonicMs() - startMs) / 1000,
      });
    let request: Message | undefined;
    try {
      request = decoded(rpc, call.request);
      if (this.#log.writes('debug')) {
        this.#log.debug('CSI request', { method: rpc.name, request: messageText(rpc.input, request) });
      }
      checkRequest(rpc.name, rpc.input, request);
      const reply = await implementation(request, { signal: abort.signal });
      const bytes = toBinary(rpc.output, create(rpc.output, reply));
      answered('OK');
      return { bytes };
    } catch (error) {
      const { code, message } = statusOf(error);
      answered(code);
      const details = request === undefined ? message : withoutSecretsOf(rpc.input, request, message);
      if (code === 'Internal') this.#log.error('CSI request failed', { method: rpc.name, error: details });
      else this.#log.debug('CSI request refused', { method: rpc.name, code, error: details });
      return { error: { code: grpcNumberOf(code), details } };
    }
  }
}

type Message = MessageShape<DescMethodUnary['input']>;
type Implementation = (
  request: Message,
  context: CsiCallContext,
) => Promise<MessageInitShape<DescMethodUnary['output']>>;
type RawCall = ServerUnaryCall<Uint8Array, Uint8Array>;
type Answer =
  | { readonly bytes: Uint8Array }
  | { readonly error: { readonly code: number; readonly details: string } };

function isUnary(rpc: DescService['methods'][number]): rpc is DescMethodUnary {
  return rpc.methodKind === 'unary';
}

/** Bytes both ways: messages are decoded where errors become codes. */
function definitionOf(rpc: DescMethodUnary) {
  const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const asBytes = (bytes: Buffer): Uint8Array => bytes;
  return {
    path: methodPath(rpc),
    requestStream: false,
    responseStream: false,
    requestSerialize: asBuffer,
    requestDeserialize: asBytes,
    responseSerialize: asBuffer,
    responseDeserialize: asBytes,
  } as const;
}

function decoded({ input }: DescMethodUnary, bytes: Uint8Array): Message {
  try {
    return fromBinary(input, bytes, { readUnknownFields: false });
  } catch (cause) {
    throw new CsiStatusError('InvalidArgument', `the request cannot be decoded: ${messageOf(cause)}`, {
      cause,
    });
  }
}
