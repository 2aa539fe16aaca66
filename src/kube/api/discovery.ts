// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.
import type { ObjectReference, Protocol } from './core.ts';
import type { KubeObject, StringMap } from './meta.ts';

export interface Endpoint {
  readonly addresses?: readonly string[];
  readonly conditions?: EndpointConditions;
  readonly hostname?: string;
  readonly targetRef?: ObjectReference;
  readonly deprecatedTopology?: StringMap;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly hints?: EndpointHints;
}

export interface EndpointConditions {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}

export interface EndpointHints {
  readonly forZones?: readonly ForZone[];
  readonly forNodes?: readonly ForNode[];
}

export interface EndpointPort {
  readonly name?: string;
  readonly protocol?: Protocol;
  readonly port?: number;
  readonly appProtocol?: string;
}

export interface EndpointSlice extends KubeObject {
  readonly addressType?: string;
  readonly endpoints?: readonly Endpoint[];
  readonly ports?: readonly EndpointPort[];
}

export interface ForNode {
  readonly name?: string;
}

export interface ForZone {
  readonly name?: string;
}
