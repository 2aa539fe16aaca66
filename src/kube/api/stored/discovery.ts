// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// The stored form, exactly as Go's encoder writes it.
import type { ObjectReference } from './core.ts';
import type { ObjectMeta } from './meta.ts';

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
