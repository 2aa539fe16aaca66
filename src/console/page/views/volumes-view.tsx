import { useRows } from '../context.ts';
import { shownBytes } from '../format.ts';
import { FilterBox, useFilter } from '../parts/filter.tsx';
import { VirtualGrid } from '../parts/virtual-grid.tsx';

/** Every PersistentVolume. */
export function VolumesView() {
  const volumes = useRows('volume');
  const { filtered, text, setText, isSearching } = useFilter(
    volumes,
    ({ id, storageClass, phase, claim, node }) => `${id} ${storageClass} ${phase} ${claim} ${node}`,
  );
  return (
    <section aria-labelledby="volumes-title">
      <h1 id="volumes-title">Volumes</h1>
      <FilterBox
        label="Filter volumes by name, class, phase, claim or node"
        text={text}
        onText={setText}
        shown={filtered.length}
        total={volumes.length}
        isSearching={isSearching}
      />
      <VirtualGrid
        label="Volumes"
        rows={filtered}
        columns={[
          { title: 'Volume', render: ({ id }) => id, width: 'minmax(9rem, 2fr)' },
          { title: 'Class', render: ({ storageClass }) => storageClass, isMinor: true },
          { title: 'Size', render: ({ sizeBytes }) => shownBytes(sizeBytes), isNumber: true, width: '6rem' },
          {
            title: 'Phase',
            render: ({ phase }) => <span class={`state ${phase}`}>{phase}</span>,
            width: '6.5rem',
          },
          { title: 'Claim', render: ({ claim }) => claim },
          { title: 'Node', render: ({ node }) => node, isMinor: true },
        ]}
        keyOf={({ id }) => id}
        emptyText="There is no such volume."
      />
    </section>
  );
}
