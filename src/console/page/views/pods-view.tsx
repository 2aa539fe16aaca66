import { useRows } from '../context.ts';
import { FilterBox, useFilter } from '../parts/filter.tsx';
import { VirtualGrid } from '../parts/virtual-grid.tsx';
import { goTo } from '../routes.ts';

/** Every pod that the viewer may list. */
export function PodsView() {
  const pods = useRows('pod');
  const { filtered, text, setText, isSearching } = useFilter(
    pods,
    ({ id, state, node, owner }) => `${id} ${state} ${node} ${owner}`,
  );
  return (
    <section aria-labelledby="pods-title">
      <h1 id="pods-title">Pods</h1>
      <FilterBox
        label="Filter pods by name, state, node or owner"
        text={text}
        onText={setText}
        shown={filtered.length}
        total={pods.length}
        isSearching={isSearching}
      />
      <VirtualGrid
        label="Pods"
        rows={filtered}
        columns={[
          { title: 'Pod', render: ({ id }) => id, width: 'minmax(9rem, 2fr)' },
          {
            title: 'State',
            render: ({ state }) => <span class={`state ${state}`}>{state}</span>,
            width: '6rem',
          },
          { title: 'Node', render: ({ node }) => node },
          { title: 'Owner', render: ({ owner }) => owner, isMinor: true },
          { title: 'Claims', render: ({ claims }) => claims, isNumber: true, width: '5rem', isMinor: true },
        ]}
        keyOf={({ id }) => id}
        onOpen={({ id }) => goTo('pod', id)}
        emptyText="There is no such pod."
      />
    </section>
  );
}
