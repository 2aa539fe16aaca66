// Generated from the types of Kubernetes v1.36.3 (k8s.io/api v0.36.3); do not edit. To write it anew:
// go run . ../../src/apiserver/schema/generated (in scripts/api-tables)
import type { ObjectReference } from './core-v1.ts';
import type { ObjectMeta } from './meta-v1.ts';

export interface Endpoint {
  addresses: string[] | null;
  conditions: EndpointConditions;
  hostname?: string | undefined;
  targetRef?: ObjectReference | undefined;
  deprecatedTopology?: Record<string, string> | undefined;
  nodeName?: string | undefined;
  zone?: string | undefined;
  hints?: EndpointHints | undefined;
}

export interface EndpointConditions {
  ready?: boolean | undefined;
  serving?: boolean | undefined;
  terminating?: boolean | undefined;
}

export interface EndpointHints {
  forZones?: ForZone[] | undefined;
  forNodes?: ForNode[] | undefined;
}

export interface EndpointPort {
  name?: string | undefined;
  protocol?: string | undefined;
  port?: number | undefined;
  appProtocol?: string | undefined;
}

export interface EndpointSlice {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  addressType: string;
  endpoints: Endpoint[] | null;
  ports: EndpointPort[] | null;
}

export interface ForNode {
  name: string;
}

export interface ForZone {
  name: string;
}
