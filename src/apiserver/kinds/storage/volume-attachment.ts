import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentSpec,
  VolumeError,
} from '../../../kube/api/stored/storage.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import { utf8Length } from '../../../kube/go/quote.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { immutableMessage } from '../../validation/immutable.ts';
import { nameRules } from '../../validation/names.ts';
import { checkCsiDriverName } from '../core/volumes/sources/node-sources.ts';
import { defaultVolumeSpec } from '../core/volumes/volume-source-defaults.ts';
import { checkInlineVolumeSpec } from '../core/volumes/volume-spec-rules.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';

export const volumeAttachmentKind: ServedKind<VolumeAttachment> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  singular: 'volumeattachment',
  namespaced: false,
  type: 'storage.k8s.io/v1.VolumeAttachment',
  nameRule: nameRules.dnsSubdomain,
  returnsDeletedObject: true,
  hasStatus: true,
  hasGeneration: false,
  requiresResourceVersion: true,

  defaults: ({ spec }) => {
    if (spec.source.inlineVolumeSpec !== undefined) defaultVolumeSpec(spec.source.inlineVolumeSpec);
  },
  prepareCreate: (attachment) => {
    attachment.status = { attached: false };
  },
  prepareUpdate: (attachment, old) => {
    attachment.status = old.status;
  },
  prepareStatus: (attachment, old) => {
    attachment.spec = old.spec;
    for (const field of ownedMetadata) Object.assign(attachment.metadata, { [field]: old.metadata[field] });
  },
  validate: checkAttachment,
  validateUpdate: checkAttachmentUpdate,
  validateStatus: checkAttachmentUpdate,

  columns: [
    nameColumn,
    { name: 'Attacher', type: 'string', format: 'name' },
    { name: 'PV', type: 'string' },
    { name: 'Node', type: 'string' },
    { name: 'Attached', type: 'boolean' },
    ageColumn,
  ],
  row: (attachment, context) => [
    attachment.metadata.name ?? '',
    attachment.spec.attacher,
    attachment.spec.source.persistentVolumeName ?? '',
    attachment.spec.nodeName,
    attachment.status.attached,
    age(attachment, context),
  ],
};

/** Unlike for volumes and claims, a write to /status may not change these. */
const ownedMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

const metadataBytesMax = 256 * 1024;
const messageBytesMax = 1024;

function checkAttachment({ spec, status }: VolumeAttachment, errors: FieldErrors): void {
  checkCsiDriverName(errors, 'spec.attacher', spec.attacher);
  checkSource(errors, 'spec.source', spec.source);
  errors.invalidFor('spec.nodeName', spec.nodeName, nameRules.dnsSubdomain(spec.nodeName, false));
  checkStatus(errors, 'status', status);
  const volume = spec.source.persistentVolumeName;
  if (volume === undefined) return;
  errors.invalidFor('spec.source.persistentVolumeName', volume, nameRules.dnsSubdomain(volume, false));
}

function checkAttachmentUpdate(
  attachment: VolumeAttachment,
  old: VolumeAttachment,
  errors: FieldErrors,
): void {
  checkAttachment(attachment, errors);
  if (isSemanticallyEqual(attachment.spec, old.spec)) return;
  errors.invalid('spec', shownSpec(attachment.spec), immutableMessage);
}

function checkSource(errors: FieldErrors, field: string, source: VolumeAttachmentSource): void {
  const { inlineVolumeSpec: inline, persistentVolumeName: name } = source;
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (inline === undefined && name === undefined) errors.required(field, detail);
  else if (inline !== undefined && name !== undefined) errors.forbidden(field, detail);
  else if (inline !== undefined) checkInlineVolumeSpec(errors, `${field}.inlineVolumeSpec`, inline);
  else if (name === '') {
    errors.required(`${field}.persistentVolumeName`, 'must specify non empty persistentVolumeName');
  }
}

function checkStatus(errors: FieldErrors, field: string, status: VolumeAttachment['status']): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(status.attachmentMetadata ?? {})) {
    bytes += utf8Length(key) + utf8Length(value);
  }
  if (bytes > metadataBytesMax) errors.tooLong(`${field}.attachmentMetadata`, metadataBytesMax);
  checkError(errors, `${field}.attachError`, status.attachError);
  checkError(errors, `${field}.detachError`, status.detachError);
}

function checkError(errors: FieldErrors, field: string, error: VolumeError | undefined): void {
  const { message = '', errorCode } = error ?? {};
  // The limit in Kubernetes' message is not the one that it checks.
  if (utf8Length(message) > messageBytesMax) errors.tooLong(`${field}.message`, metadataBytesMax);
  if (errorCode !== undefined && errorCode < 0) {
    errors.invalid(`${field}.errorCode`, errorCode, 'must be between 0 and 2147483647, inclusive');
  }
}

/**
 * The spec as kube-apiserver prints it in errors: with Go field names. An inline volume is printed in the form of the
 * API.
 */
function shownSpec({ attacher, source, nodeName }: VolumeAttachmentSpec): unknown {
  const shownSource = {
    PersistentVolumeName: source.persistentVolumeName ?? null,
    InlineVolumeSpec: source.inlineVolumeSpec ?? null,
  };
  return { Attacher: attacher, Source: shownSource, NodeName: nodeName };
}
