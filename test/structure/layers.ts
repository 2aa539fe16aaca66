import { apiserverLayers } from './apiserver-layers.ts';
import { cliLayers } from './cli-layers.ts';
import { controllersLayers, volumesLayers, workloadsLayers } from './controllers-layers.ts';
import { engineLayers } from './engine-layers.ts';

/**
 * The layers, from the bottom up. An entry is a file or folder directly in the given folder; it may import entries of lower rows, and
 * entries of one row do not import each other. `docs/architecture.md` and the folders' READMEs show the same lists.
 */
export const layersByFolder: Readonly<Record<string, readonly (readonly string[])[]>> = {
  src: [
    ['runtime'],
    ['kube'],
    ['engine', 'io'],
    ['apiserver', 'csi'],
    ['cluster'],
    ['reconcile'],
    ['state'],
    ['bind'],
    ['extender', 'binding', 'drives'],
    ['queries'],
    ['controllers'],
    ['embedded'],
    ['simulation'],
    ['console'],
    ['cli'],
  ],
  'src/apiserver': apiserverLayers,
  'src/cli': cliLayers,
  'src/engine': engineLayers,
  'src/controllers': controllersLayers,
  'src/controllers/volumes': volumesLayers,
  'src/controllers/workloads': workloadsLayers,
};

/** Folders of src/ that run anywhere, also in a browser: they import neither Node modules nor packages. */
export const pureFolders: ReadonlySet<string> = new Set(['kube', 'engine']);

/** Folders whose tests import any entry of them: they run several controllers on one cluster. */
export const testedTogether: ReadonlySet<string> = new Set([
  'src/controllers',
  'src/controllers/volumes',
  'src/controllers/workloads',
]);

/** Folders of src/ that tests of lower layers use too: the simulation's invariants are checked on every version that they store. */
export const testHarnesses: ReadonlySet<string> = new Set(['simulation']);
