import type { MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { Controller, Identity, Node } from './generated/csi.ts';

const { method: identity } = Identity;
const { method: controller } = Controller;
const { method: node } = Node;

/** The methods that we call, each with the kind that `rpc-outcomes.ts` needs. */
export const csiMethods = {
  GetPluginInfo: { rpc: identity.getPluginInfo, kind: 'read' },
  GetPluginCapabilities: { rpc: identity.getPluginCapabilities, kind: 'read' },
  Probe: { rpc: identity.probe, kind: 'read' },
  CreateVolume: { rpc: controller.createVolume, kind: 'create' },
  DeleteVolume: { rpc: controller.deleteVolume, kind: 'delete' },
  ControllerPublishVolume: { rpc: controller.controllerPublishVolume, kind: 'publish' },
  ControllerUnpublishVolume: { rpc: controller.controllerUnpublishVolume, kind: 'unpublish' },
  ValidateVolumeCapabilities: { rpc: controller.validateVolumeCapabilities, kind: 'read' },
  ListVolumes: { rpc: controller.listVolumes, kind: 'read' },
  GetCapacity: { rpc: controller.getCapacity, kind: 'read' },
  ControllerGetCapabilities: { rpc: controller.controllerGetCapabilities, kind: 'read' },
  ControllerExpandVolume: { rpc: controller.controllerExpandVolume, kind: 'expand' },
  ControllerModifyVolume: { rpc: controller.controllerModifyVolume, kind: 'modify' },
  NodeStageVolume: { rpc: node.nodeStageVolume, kind: 'publish' },
  NodeUnstageVolume: { rpc: node.nodeUnstageVolume, kind: 'unpublish' },
  NodePublishVolume: { rpc: node.nodePublishVolume, kind: 'publish' },
  NodeUnpublishVolume: { rpc: node.nodeUnpublishVolume, kind: 'unpublish' },
  NodeGetVolumeStats: { rpc: node.nodeGetVolumeStats, kind: 'read' },
  NodeExpandVolume: { rpc: node.nodeExpandVolume, kind: 'expand' },
  NodeGetCapabilities: { rpc: node.nodeGetCapabilities, kind: 'read' },
  NodeGetInfo: { rpc: node.nodeGetInfo, kind: 'read' },
} as const;

export type CsiMethodName = keyof typeof csiMethods;

type Rpc<Name extends CsiMethodName> = (typeof csiMethods)[Name]['rpc'];

/** A request as callers write it: absent fields have their default. Sizes are `bigint`, exact up to 2^63. */
export type CsiRequestInit<Name extends CsiMethodName> = MessageInitShape<Rpc<Name>['input']>;
export type CsiRequest<Name extends CsiMethodName> = MessageShape<Rpc<Name>['input']>;
export type CsiReply<Name extends CsiMethodName> = MessageShape<Rpc<Name>['output']>;

/** The path of a method in HTTP/2, and its name in metrics: `/csi.v1.Controller/CreateVolume`. */
export function methodPath(rpc: {
  readonly parent: { readonly typeName: string };
  readonly name: string;
}): string {
  return `/${rpc.parent.typeName}/${rpc.name}`;
}
