/**
 * Pods, the nodes that they run on, the namespaces that they live in, and their templates. What workloads need of pods is in
 * `pod-template.ts`.
 */
import { anyKind, type Kind } from '../kind.ts';
import { namespaceKind } from './namespace.ts';
import { nodeKind } from './node.ts';
import { podKind } from './pod.ts';
import { podTemplateKind } from './pod-template-kind.ts';

export const podKinds: readonly Kind[] = [
  anyKind(namespaceKind),
  anyKind(nodeKind),
  anyKind(podKind),
  anyKind(podTemplateKind),
];
