import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ConsoleNode } from '../../wire/rows.ts';
import { useRows, useStore, useVersion } from '../context.ts';
import { countText, percentText, shownBytes, shownCores } from '../format.ts';
import { MapCanvas } from '../map/map-canvas.tsx';
import { NodeStorage } from '../map/node-storage.ts';
import { FillBar, FillText } from '../parts/fill-bar.tsx';
import { FilterBox, useFilter } from '../parts/filter.tsx';
import { type GridColumn, VirtualGrid } from '../parts/virtual-grid.tsx';
import { goTo, linkTo } from '../routes.ts';

/** Zones, racks, nodes and what they store: drawn, and as a table. */
export function MapView({ id }: { readonly id: string }) {
  const store = useStore();
  const nodes = useRows('node');
  const [isTable, setTable] = useState(false);
  const storage = useMemo(() => new NodeStorage(store), [store]);
  useEffect(() => () => storage.stop(), [storage]);
  const select = (node: string) => goTo('map', node);
  return (
    <section aria-labelledby="map-title">
      <div class="title-line">
        <h1 id="map-title">Map</h1>
        <div class="switch" role="group" aria-label="Show as">
          <button type="button" aria-pressed={!isTable} onClick={() => setTable(false)}>
            Drawing
          </button>
          <button type="button" aria-pressed={isTable} onClick={() => setTable(true)}>
            Table
          </button>
        </div>
        <Legend />
      </div>
      <SharedPools storage={storage} />
      <div class={id === '' ? 'split' : 'split has-side'}>
        {isTable ? (
          <NodeTable nodes={nodes} storage={storage} selected={id} onSelect={select} />
        ) : (
          <MapCanvas nodes={nodes} storage={storage} selected={id} onSelect={select} />
        )}
        {id !== '' && <NodePanel name={id} storage={storage} />}
      </div>
    </section>
  );
}

function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      <li class="legend-used">storage used</li>
      <li class="legend-full">used, if over 90 % are used or promised</li>
      <li class="legend-promised">promised</li>
      <li class="legend-free">free</li>
      <li class="legend-requested">CPU and memory requested</li>
      <li class="legend-cordoned">cordoned</li>
      <li class="legend-bad">not ready, or storage with a problem</li>
    </ul>
  );
}

/** Pools that every node reaches, or nodes of several zones. */
function SharedPools({ storage }: { readonly storage: NodeStorage }) {
  useVersion(['pool'], 500);
  const units = storage.unitsOf('*');
  if (units.length === 0) return null;
  return (
    <ul class="unit-list" aria-label="Pools of several zones">
      {units.slice(0, 12).map((unit) => (
        <li key={unit.id}>
          <span class="unit-name">{unit.name}</span>
          <FillBar {...unit} />
          <FillText {...unit} />
        </li>
      ))}
    </ul>
  );
}

function NodeTable(props: {
  readonly nodes: readonly ConsoleNode[];
  readonly storage: NodeStorage;
  readonly selected: string;
  readonly onSelect: (node: string) => void;
}) {
  const { nodes, storage, selected, onSelect } = props;
  useVersion(['pool', 'disk', 'volume'], 500);
  const { filtered, text, setText, isSearching } = useFilter(
    nodes,
    ({ id, zone, rack }) => `${id} ${zone} ${rack}`,
  );
  const columns: readonly GridColumn<ConsoleNode>[] = [
    { title: 'Node', render: ({ id }) => id, width: 'minmax(8rem, 1.4fr)' },
    { title: 'Zone', render: ({ zone }) => zone, isMinor: true },
    { title: 'Rack', render: ({ rack }) => rack, isMinor: true },
    { title: 'State', render: stateText, width: '9rem' },
    { title: 'CPU', render: ({ cpu }) => percentText(cpu[0], cpu[1]), isNumber: true, width: '4rem' },
    {
      title: 'Storage',
      render: ({ id }) => {
        const sum = storage.sumOf(id);
        return sum.totalBytes === 0 ? <span class="dim">none</span> : <FillText {...sum} />;
      },
      width: 'minmax(9rem, 2fr)',
    },
  ];
  return (
    <div>
      <FilterBox
        label="Filter nodes"
        text={text}
        onText={setText}
        shown={filtered.length}
        total={nodes.length}
        isSearching={isSearching}
      />
      <VirtualGrid
        label="Nodes"
        rows={filtered}
        columns={columns}
        keyOf={({ id }) => id}
        isSelected={({ id }) => id === selected}
        onOpen={({ id }) => onSelect(id)}
        emptyText="There is no such node."
      />
    </div>
  );
}

function stateText({ isReady, isCordoned }: ConsoleNode): string {
  return [isReady ? 'ready' : 'not ready', ...(isCordoned ? ['cordoned'] : [])].join(', ');
}

function NodePanel({ name, storage }: { readonly name: string; readonly storage: NodeStorage }) {
  const store = useStore();
  useVersion(['node', 'pool', 'disk', 'volume'], 500);
  const pods = useRows('pod');
  const node = store.get('node', name);
  const onNode = useMemo(() => pods.filter((pod) => pod.node === name), [pods, name]);
  if (node === undefined) return <aside class="side">There is no node {name}.</aside>;
  return (
    <aside class="side" aria-label={`Node ${name}`}>
      <div class="title-line">
        <h2>{name}</h2>
        <a href={linkTo('map')} aria-label="Close">
          ✕
        </a>
      </div>
      <dl class="facts">
        <dt>State</dt>
        <dd>{stateText(node)}</dd>
        <dt>Zone, rack</dt>
        <dd>{[node.zone || 'none', node.rack || 'none'].join(', ')}</dd>
        <dt>CPU</dt>
        <dd>
          {shownCores(node.cpu[0])} of {shownCores(node.cpu[1])} requested
        </dd>
        <dt>Memory</dt>
        <dd>
          {shownBytes(node.memory[0])} of {shownBytes(node.memory[1])} requested
        </dd>
        <dt>Pods</dt>
        <dd>
          {countText(node.pods[0])} of {countText(node.pods[1])}
        </dd>
      </dl>
      <h3>Storage</h3>
      <ul class="unit-list">
        {storage.unitsOf(name).map((unit) => (
          <li key={unit.id}>
            <span class="unit-name">
              {unit.name} {unit.problem !== '' && <span class="bad">{unit.problem}</span>}
            </span>
            <FillBar {...unit} />
            <FillText {...unit} />
          </li>
        ))}
        {storage.unitsOf(name).length === 0 && <li class="dim">None of its own.</li>}
      </ul>
      <h3>Pods</h3>
      <ul class="plain">
        {onNode.slice(0, 100).map((pod) => (
          <li key={pod.id}>
            <a href={linkTo('pod', pod.id)}>{pod.id}</a> <span class="dim">{pod.state}</span>
          </li>
        ))}
        {onNode.length > 100 && <li class="dim">and {countText(onNode.length - 100)} more</li>}
        {onNode.length === 0 && <li class="dim">None that you may see.</li>}
      </ul>
    </aside>
  );
}
