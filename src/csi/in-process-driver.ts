import { create, type DescMethodUnary, type MessageShape } from '@bufbuild/protobuf';
import { InvalidField } from './checks/field-checks.ts';
import { checkReply } from './checks/reply-checks.ts';
import { checkRequest } from './checks/request-checks.ts';
import type { CallOptions } from './csi-client.ts';
import { CsiCallError, CsiReplyError } from './csi-errors.ts';
import { type CsiMethodName, type CsiReply, type CsiRequestInit, csiMethods } from './csi-methods.ts';
import type { CsiCallContext, CsiServices } from './csi-server.ts';
import { CsiDriverIdentity, noFields } from './driver-identity.ts';
import { IdentifiedDriver } from './identified-driver.ts';
import type { CapacityChanges } from './served-driver.ts';
import { statusOf } from './status-of.ts';

type Message = MessageShape<DescMethodUnary['input']>;
type Implementation = (request: Message, context: CsiCallContext) => Promise<object>;
type Implementations = Readonly<Record<string, Implementation | undefined>>;

/**
 * A CSI driver in this process, without a socket: requests and replies are checked as on the wire, and errors become the same types.
 * It sets no timers, so it also works under a virtual clock; `timeoutMs` is ignored.
 */
export class InProcessDriver extends IdentifiedDriver {
  readonly #services: CsiServices;
  protected override readonly identity: CsiDriverIdentity;
  readonly onCapacityChange: CapacityChanges | undefined;

  static async connect(
    services: CsiServices,
    signal: AbortSignal,
    onCapacityChange?: CapacityChanges,
  ): Promise<InProcessDriver> {
    const identity = await CsiDriverIdentity.ask((method) =>
      callOf(services, '', method, noFields, { signal }),
    );
    return new InProcessDriver(services, identity, onCapacityChange);
  }

  private constructor(
    services: CsiServices,
    identity: CsiDriverIdentity,
    onCapacityChange: CapacityChanges | undefined,
  ) {
    super();
    this.#services = services;
    this.identity = identity;
    this.onCapacityChange = onCapacityChange;
  }

  protected override send<Name extends CsiMethodName>(
    method: Name,
    request: CsiRequestInit<Name>,
    options: Omit<CallOptions, 'connection'>,
  ): Promise<CsiReply<Name>> {
    return callOf(this.#services, this.name, method, request, options);
  }
}

async function callOf<Name extends CsiMethodName>(
  services: CsiServices,
  driver: string,
  method: Name,
  init: CsiRequestInit<Name>,
  { signal }: Omit<CallOptions, 'connection'>,
): Promise<CsiReply<Name>> {
  const { rpc, kind } = csiMethods[method];
  const call = { driver, method, kind };
  const request = create(rpc.input, init as never) as Message;
  let reply: CsiReply<Name>;
  try {
    checkRequest(rpc.name, rpc.input as DescMethodUnary['input'], request);
    const implementation = implementationOf(services, rpc);
    if (implementation === undefined)
      throw new CsiCallError(call, 'Unimplemented', `${method} is not served`, { sent: true });
    reply = create(rpc.output, (await implementation(request, { signal })) as never) as CsiReply<Name>;
  } catch (error) {
    if (error instanceof CsiCallError) throw error;
    const { code, message } = statusOf(error);
    throw new CsiCallError(call, code, message, { sent: true });
  }
  try {
    checkReply(method, reply, request as never);
  } catch (error) {
    if (!(error instanceof InvalidField)) throw error;
    throw new CsiReplyError(call, error.field, error.problem, { reply, cause: error });
  }
  return reply;
}

function implementationOf(services: CsiServices, rpc: DescMethodUnary): Implementation | undefined {
  const { name } = rpc.parent;
  const methods = { Identity: services.identity, Controller: services.controller, Node: services.node }[
    name as 'Identity' | 'Controller' | 'Node'
  ] as Implementations | undefined;
  return methods?.[rpc.localName];
}
