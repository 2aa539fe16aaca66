import type { Pod } from '../../kube/core.ts';
import { listOf } from '../../kube/wire.ts';
import { realClock } from '../../runtime/clock.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { CliError, usage } from '../cli-error.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { Progress } from '../output/progress.ts';
import { type Terminal, terminalOf } from '../output/terminal.ts';
import { connectToRead, loadCluster } from '../source/load-cluster.ts';
import { loadFiles } from '../source/load-files.ts';
import type { Target, World } from '../source/world.ts';
import { explainClaim } from './explain-claim.ts';
import { type ExplainPodOptions, explainPod } from './explain-pod.ts';
import type { Explanation } from './explanation.ts';
import { missingNotes } from './lacking.ts';
import { renderClaim } from './render-claim.ts';
import { renderPod } from './render-pod.ts';

export interface ExplainFlags {
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** As often as given. */
  readonly from?: readonly string[];
  readonly output: string;
  readonly profile?: string;
}

/** `stowage explain`: prints the answer, and sets the exit status that goes with it. */
export async function explain(kind: string, name: string, flags: ExplainFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const options: ExplainPodOptions = { nowMs: realClock.nowMs(), profile: profileOf(flags) };
  const asked = askedFor(kind, name, flags);
  const progress = new Progress(terminalOf(process.stderr, process.env), realClock, (text) => {
    process.stderr.write(text);
  });
  const { world, target, where } = await load(asked, flags, (text) => progress.tell(text));
  progress.tell('looking for what would help');
  const explanation = answer(world, target, { ...options, where });
  progress.end();
  process.stdout.write(rendered(explanation, format, terminalOf(process.stdout, process.env)));
  process.exitCode = exitCodeOf(explanation);
}

/** Without a namespace where nobody named one. */
interface Asked {
  readonly kind: Target['kind'];
  readonly namespace: string | undefined;
  readonly name: string;
}

const kinds: Readonly<Record<string, Target['kind']>> = {
  pod: 'pod',
  pods: 'pod',
  po: 'pod',
  claim: 'claim',
  claims: 'claim',
  pvc: 'claim',
  persistentvolumeclaim: 'claim',
  persistentvolumeclaims: 'claim',
};

function askedFor(kindText: string, nameText: string, { namespace }: ExplainFlags): Asked {
  const kind = Object.hasOwn(kinds, kindText.toLowerCase()) ? kinds[kindText.toLowerCase()] : undefined;
  if (kind === undefined) throw usage(`"${kindText}" cannot be explained; ask for a pod or a claim`);
  const parts = nameText.split('/');
  if (parts.length > 2 || parts.includes(''))
    throw usage(`"${nameText}" is no name; write NAME or NAMESPACE/NAME`);
  const [own, name = own] = parts as [string, string?];
  const inName = parts.length === 2 ? own : undefined;
  if (inName !== undefined && namespace !== undefined && inName !== namespace)
    throw usage(`namespace ${inName} in the name, but -n ${namespace}; leave one out`);
  return { kind, namespace: inName ?? namespace, name };
}

function profileOf({ profile }: ExplainFlags): ExplainPodOptions['profile'] {
  if (profile === undefined || profile === 'stowage' || profile === 'upstream') return profile;
  throw usage(`--profile: "${profile}" is neither stowage nor upstream`);
}

interface Loaded {
  readonly world: World;
  readonly target: Target;
  /** For messages. */
  readonly where: string;
}

async function load(asked: Asked, flags: ExplainFlags, onProgress: (text: string) => void): Promise<Loaded> {
  const { from, kubeconfig, context } = flags;
  if (from === undefined) {
    await using cluster = await connectToRead({ kubeconfig, context });
    const { server, source } = cluster;
    const target = { ...asked, namespace: asked.namespace ?? cluster.namespace };
    const world = await loadCluster(cluster, target, { server, source, onProgress });
    return { world, target, where: server };
  }
  if (kubeconfig !== undefined || context !== undefined)
    throw usage('--from reads files, --kubeconfig and --context a cluster; give one of them');
  const target = { ...asked, namespace: asked.namespace ?? 'default' };
  const files = loadFiles(from, { onProgress });
  const notes = missingNotes(files.snapshot, podsOf(files.snapshot, target));
  return { world: { ...files, notes }, target, where: from.join(', ') };
}

/** The pods that an answer is about. */
function podsOf(snapshot: Snapshot, { kind, namespace, name }: Target): readonly Pod[] {
  if (kind === 'pod') return [snapshot.get('Pod', `${namespace}/${name}`) ?? []].flat();
  return [...snapshot.values('Pod')].filter(
    ({ metadata, spec }) =>
      metadata?.namespace === namespace &&
      listOf(spec?.volumes).some(({ persistentVolumeClaim: claim }) => claim?.claimName === name),
  );
}

/** The explanation of what is asked for; rejects what isn't there. */
export function answer(
  world: World,
  target: Target,
  options: ExplainPodOptions & { readonly where: string },
): Explanation {
  const key = `${target.namespace}/${target.name}`;
  const { snapshot } = world;
  if (target.kind === 'pod') {
    const pod = snapshot.get('Pod', key);
    if (pod === undefined) throw notFound(world, target, options.where);
    return explainPod(world, pod, options);
  }
  const claim = snapshot.get('PersistentVolumeClaim', key);
  if (claim === undefined) throw notFound(world, target, options.where);
  return explainClaim(world, claim, options);
}

function notFound({ snapshot, notes }: World, { kind, namespace, name }: Target, where: string): CliError {
  const plural = kind === 'pod' ? 'pods' : 'persistentvolumeclaims';
  const hidden = notes.find(({ about, text }) => about === 'unseen' && text.includes(` see ${plural}`));
  if (hidden !== undefined) return new CliError(`${hidden.text}; ask for the right to list ${plural}`);
  const known = [...snapshot.values(kind === 'pod' ? 'Pod' : 'PersistentVolumeClaim')];
  const [elsewhere] = known.filter(({ metadata }) => metadata?.name === name);
  const hint =
    elsewhere === undefined
      ? `kubectl get ${plural} -n ${namespace} lists those there are`
      : `there is one in namespace ${elsewhere.metadata?.namespace}; choose it with -n`;
  return new CliError(`there is no ${kind} ${namespace}/${name} in ${where}; ${hint}`);
}

function rendered(explanation: Explanation, format: OutputFormat, terminal: Terminal): string {
  if (format === 'json' || format === 'yaml') return structured(explanation, format);
  const options = { terminal, isWide: format === 'wide' };
  return explanation.kind === 'PodExplanation'
    ? renderPod(explanation, options)
    : renderClaim(explanation, options);
}

/** Something that scripts can ask for: the pod doesn't fit, or the claim has no volume. */
const unmet = 3;

export function exitCodeOf(explanation: Explanation): number {
  if (explanation.kind === 'ClaimExplanation') return explanation.state === 'Bound' ? 0 : unmet;
  switch (explanation.verdict) {
    case 'placed':
    case 'fits':
    case 'finished':
      return 0;
    case 'refused':
    case 'gated':
      return unmet;
    case 'unknown':
      return 1;
  }
}
