import type { FullResponse } from '../../../io/http/full-response.ts';
import type { Status } from '../../../kube/api/meta.ts';
import { badRequest, isReason } from '../../../kube/api-error.ts';
import { renameLegacyFields } from '../../../kube/legacy/legacy-names.ts';
import { isRecord } from '../../../kube/wire.ts';
import type { Caller } from '../../access/access.ts';
import type { User } from '../../access/user.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import type { UpdateContext } from '../../registry/registry.ts';
import { decodeBody } from '../../schema/decode.ts';
import type { ExpectedType } from '../../schema/group-version-kind.ts';
import type { IncomingRequest, OutgoingResponse } from '../http/http-exchange.ts';
import type { RequestContext } from '../request-context.ts';
import { readListOptions } from '../requests/list-options.ts';
import { type ParsedPatch, parsePatch, patchTypeOfRequest } from '../requests/patch-body.ts';
import { readRequestObject } from '../requests/request-object.ts';
import {
  type DeleteRequestOptions,
  deleteOptionsFromQuery,
  readPatchOptions,
  readWriteOptions,
  validateDeleteOptions,
  type WriteRequestOptions,
} from '../requests/write-options.ts';
import { valueResponse } from '../responses/body-responses.ts';
import { type AllowedShapes, negotiate } from '../responses/negotiation.ts';
import { listResponse, objectResponse } from '../responses/object-responses.ts';
import type { ResourceTarget } from '../routing/router.ts';

const anyShape: AllowedShapes = { shapes: 'all' };

export async function createResource(
  { registry, clock, caller }: RequestContext,
  request: IncomingRequest,
  { kind, namespace }: ResourceTarget,
): Promise<FullResponse> {
  const format = negotiate(request, anyShape);
  const options = readWriteOptions(request.query, userAgent(request), 'CreateOptions');
  const object = await readRequestObject(request, caller.user, expectedBody(kind), options);
  const snapshot = await registry.create(kind, namespace, object, writeContext(caller, request, options));
  return objectResponse(201, snapshot, {
    request,
    kind,
    format,
    nowMs: clock.nowMs(),
  });
}

export async function updateResource(
  { registry, clock, caller }: RequestContext,
  request: IncomingRequest,
  { kind, namespace, name = '', subresource }: ResourceTarget,
): Promise<FullResponse> {
  const format = negotiate(request, anyShape);
  const options = readWriteOptions(request.query, userAgent(request), 'UpdateOptions');
  const object = await readRequestObject(request, caller.user, expectedBody(kind, subresource), options);
  const write = writeContext(caller, request, options, subresource);
  const { snapshot, created } = await registry.update(kind, { namespace, name }, object, write);
  const responseOptions = { request, kind, format, nowMs: clock.nowMs() };
  return objectResponse(created ? 201 : 200, snapshot, responseOptions);
}

export async function patchResource(
  { registry, clock, caller }: RequestContext,
  request: IncomingRequest,
  { kind, namespace, name = '', subresource }: ResourceTarget,
): Promise<FullResponse> {
  const format = negotiate(request, anyShape);
  const type = patchTypeOfRequest(request.headers['content-type'], kind);
  const options = readPatchOptions(request.query, userAgent(request), type);
  const { fieldValidation, force } = options;
  const bytes = await request.body(caller.user.name);
  const read = parsePatch(bytes, { type, fieldValidation, warn: request.warnings.add });
  const write = writeContext(caller, request, options, subresource);
  const patch = { type, ...withCurrentNames(read, kind, request), fieldValidation, force };
  const { snapshot, created } = await registry.patch(kind, { namespace, name }, patch, write);
  const responseOptions = { request, kind, format, nowMs: clock.nowMs() };
  return objectResponse(created ? 201 : 200, snapshot, responseOptions);
}

/** JSON patches have paths, in which the current names are required. */
function withCurrentNames(patch: ParsedPatch, kind: ServedKind, { warnings }: IncomingRequest): ParsedPatch {
  if (!isRecord(patch.body)) return patch;
  const { object, notices } = renameLegacyFields(patch.body, kind);
  for (const notice of notices) warnings.add(notice);
  return { ...patch, body: object };
}

export async function deleteResource(
  { registry, clock, caller }: RequestContext,
  request: IncomingRequest,
  { kind, namespace, name = '' }: ResourceTarget,
): Promise<FullResponse> {
  const format = negotiate(request, anyShape);
  const { request: deletion, dryRun } = validateDeleteOptions(await readDeleteOptions(request, caller.user));
  const write = { ...deletionContext(caller, request), dryRun };
  const deleted = await registry.delete(kind, { namespace, name }, deletion, write);
  if (deleted.kind === 'removed') return valueResponse(200, format, deleted.status);
  return objectResponse(200, deleted.snapshot, { request, kind, format, nowMs: clock.nowMs() });
}

export async function deleteResourceCollection(
  { registry, clock, caller }: RequestContext,
  request: IncomingRequest,
  { kind, namespace }: ResourceTarget,
): Promise<OutgoingResponse> {
  const format = negotiate(request, anyShape);
  const { list } = readListOptions(request.query, namespace, false);
  const { request: deletion, dryRun } = validateDeleteOptions(await readDeleteOptions(request, caller.user));
  const write = { ...deletionContext(caller, request), dryRun };
  const page = await registry.deleteCollection(kind, list, deletion, write);
  return listResponse(200, page, { request, kind, format, nowMs: clock.nowMs() });
}

/** POST to a subresource such as `binding`. */
export async function postSubresource(
  { registry, caller }: RequestContext,
  request: IncomingRequest,
  { kind, namespace, name = '', subresource = '' }: ResourceTarget,
): Promise<FullResponse> {
  const format = negotiate(request, { shapes: 'metadata' });
  const options = readWriteOptions(request.query, userAgent(request), 'CreateOptions');
  const body = await readRequestObject(request, caller.user, expectedBody(kind, subresource), options);
  const write = writeContext(caller, request, options);
  const status: Status = await registry.post(kind, { namespace, name }, subresource, body, write);
  return valueResponse(status.code ?? 201, format, status);
}

const deleteOptionsBody: ExpectedType = {
  group: 'meta.k8s.io',
  version: 'v1',
  kind: 'DeleteOptions',
  type: 'meta/v1.DeleteOptions',
};

async function readDeleteOptions(request: IncomingRequest, { name }: User): Promise<DeleteRequestOptions> {
  const bytes = await request.body(name);
  if (bytes.length === 0) return deleteOptionsFromQuery(request.query);
  const contentType = request.headers['content-type'];
  try {
    return decodeBody({ bytes, contentType, expected: deleteOptionsBody, fieldValidation: 'Ignore' }).object;
  } catch (error) {
    throw isReason(error, 'BadRequest') ? badRequest(withoutTypeContext(error.message)) : error;
  }
}

/** For invalid options kube-apiserver reports the error without the expected type. */
function withoutTypeContext(message: string): string {
  const [, unrecognized] =
    /^the object provided is unrecognized \(must be of type \w+\): (.*) \(.*\)$/s.exec(message) ?? [];
  const [, refused] = /^\S+ in version "[^"]*" cannot be handled as a \w+: (.*)$/s.exec(message) ?? [];
  return unrecognized ?? refused ?? message;
}

const scaleBody: ExpectedType = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  type: 'autoscaling/v1.Scale',
};

/** The type that the body of a write must have. */
function expectedBody(kind: ServedKind, subresource?: string): ExpectedType {
  if (subresource === 'scale') return scaleBody;
  const part = kind.subresources?.find(({ name }) => name === subresource);
  const { group, version } = kind;
  if (part === undefined) return { group, version, kind: kind.kind, type: kind.type, form: kind.form };
  return { group: part.group ?? group, version: part.version ?? version, kind: part.kind, type: part.type };
}

function writeContext(
  { user, guard }: Caller,
  { warnings }: IncomingRequest,
  { manager, dryRun }: WriteRequestOptions,
  subresource?: string,
): UpdateContext {
  return { manager, user: user.name, dryRun, subresource, warn: warnings.add, guard };
}

function deletionContext({ user, guard }: Caller, request: IncomingRequest): UpdateContext {
  const { manager } = readWriteOptions(new URLSearchParams(), userAgent(request), 'UpdateOptions');
  return { manager, user: user.name, warn: request.warnings.add, guard };
}

function userAgent({ headers }: IncomingRequest): string | undefined {
  return headers['user-agent'];
}
