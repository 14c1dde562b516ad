import { useContext, useMemo, useState } from 'preact/hooks';
import type { NodeRow } from '../wire.ts';
import { move } from './arrow-keys.ts';
import { NodeTable } from './node-table.tsx';
import { memo, NamingContext } from './parts.tsx';
import { countText, SIGNS, type Appearance, APPEARANCES, appearanceOf, plural, shapeOf, wordOf } from './text.ts';

/** Most nodes with names on their tiles. With more nodes, a tile shows only its shape. */
const ROOMY = 120;

interface NodesProps {
  readonly nodes: ReadonlyMap<string, NodeRow>;
  readonly selected: string | undefined;
  readonly select: (name: string) => void;
}

/** Every node as a tile, grouped by policy and zone. The arrow keys move between tiles. */
export const Nodes = memo(function Nodes({ nodes, selected, select }: NodesProps) {
  const [text, setText] = useState('');
  const [only, setOnly] = useState<Appearance>();
  const [isTable, setTable] = useState(false);
  const rows = useMemo(() => matching([...nodes.values()], text.trim().toLowerCase(), only), [nodes, text, only]);
  const found = rows.length;
  const { shorten } = useContext(NamingContext);
  return (
    <section class="panel" aria-labelledby="nodes">
      <div class="head">
        <h2 id="nodes" tabIndex={-1}>
          Nodes
        </h2>
        <div class="tools">
          <NameFilter text={text} change={setText} />
          <button type="button" class="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
            Table
          </button>
        </div>
      </div>
      <Legend
        nodes={nodes}
        only={only}
        choose={(appearance) => setOnly(appearance === only ? undefined : appearance)}
      />
      {isTable ? (
        <NodeTable rows={rows} selected={selected} />
      ) : (
        <Tiles rows={rows} selected={selected} select={select} labelOf={nodes.size > ROOMY ? undefined : shorten} />
      )}
      {found === 0 && <p class="empty">{nodes.size === 0 ? NO_NODES : 'No node has that.'}</p>}
      <p class="hidden" role="status">
        {text === '' && only === undefined ? '' : `${plural(found, 'node')} shown`}
      </p>
    </section>
  );
});

interface TilesProps extends Pick<NodesProps, 'selected' | 'select'> {
  readonly rows: readonly NodeRow[];
  readonly labelOf: GroupProps['labelOf'];
}

function Tiles({ rows, selected, select, labelOf }: TilesProps) {
  const groups = useMemo(() => groupsOf(rows), [rows]);
  const reached = tabStopOf(groups, selected);
  const look = labelOf ? 'groups' : 'groups dense';
  return (
    <div class={look} onKeyDown={move} onClick={(event) => choose(event, select)}>
      {groups.map((group) => (
        <PolicyGroup key={group.policy ?? ''} {...{ group, selected, reached, labelOf }} />
      ))}
    </div>
  );
}

/** Nodes in which each word of the text is found: in their names, versions, policies, zones, states or reasons. */
function matching(rows: readonly NodeRow[], text: string, only: Appearance | undefined): readonly NodeRow[] {
  const words = text.split(/\s+/);
  return rows.filter((row) => {
    if (only !== undefined && appearanceOf(row) !== only) return false;
    const { name, runs, offered, policy, zone, reason } = row;
    const said = [name, runs, offered, policy, zone, wordOf(row), reason].join(' ').toLowerCase();
    return words.every((word) => said.includes(word));
  });
}

function NameFilter({ text, change }: { readonly text: string; readonly change: (text: string) => void }) {
  return (
    <label class="filter">
      <span class="hidden">Search by name, version, policy, zone or state</span>
      <input
        id="filter"
        type="search"
        placeholder="Search nodes  /"
        value={text}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </label>
  );
}

const NO_NODES = 'No node is managed: none bears the label bottlerocket.aws/updater-interface-version=2.0.0.';

/** The one listener of all tiles. */
function choose({ target }: Event, select: NodesProps['select']): void {
  const tile = target instanceof Element ? target.closest<HTMLElement>('[data-node]') : null;
  if (tile?.dataset['node'] !== undefined) select(tile.dataset['node']);
}

interface NodeGroup {
  readonly policy: string | undefined;
  readonly rows: readonly NodeRow[];
  readonly zones: ReadonlyMap<string | undefined, readonly NodeRow[]>;
}

/** Orders policies and zones by name. A missing name comes last. */
const order = (a: string | undefined, b: string | undefined): number =>
  a === undefined || b === undefined ? Number(a === undefined) - Number(b === undefined) : a.localeCompare(b, 'en');

function groupsOf(rows: readonly NodeRow[]): readonly NodeGroup[] {
  const policies = [...Map.groupBy(rows, ({ policy }) => policy)].toSorted(([a], [b]) => order(a, b));
  return policies.map(([policy, own]) => {
    const zones = [...Map.groupBy(own, ({ zone }) => zone)].toSorted(([a], [b]) => order(a, b));
    return { policy, rows: own, zones: new Map(zones) };
  });
}

/** The one tile that Tab reaches: the selected one, or else the first. */
function tabStopOf(groups: readonly NodeGroup[], selected: string | undefined): string | undefined {
  const isThere = groups.some(({ rows }) => rows.some(({ name }) => name === selected));
  return isThere ? selected : [...(groups[0]?.zones.values() ?? [])][0]?.[0]?.name;
}

interface GroupProps {
  readonly group: NodeGroup;
  readonly selected: string | undefined;
  readonly reached: string | undefined;
  /** The text on a tile; undefined where tiles show no names. */
  readonly labelOf: ((name: string) => string) | undefined;
}

function PolicyGroup({ group: { policy, rows, zones }, selected, reached, labelOf }: GroupProps) {
  const name = policy ?? 'no policy';
  return (
    <div>
      <h3>
        {name} <Done rows={rows} />
      </h3>
      <div class="zones">
        {[...zones].map(([zone, own]) => (
          <div key={zone ?? ''} class="zone">
            {(zone !== undefined || zones.size > 1) && (
              <h4>
                {zone ?? 'without a zone'} <Done rows={own} />
              </h4>
            )}
            <ul class="tiles" aria-label={[name, zone].filter(Boolean).join(', ')}>
              {own.map((row) => (
                <Tile
                  key={row.name}
                  row={row}
                  label={labelOf?.(row.name)}
                  isSelected={row.name === selected}
                  isReached={row.name === reached}
                />
              ))}
            </ul>
          </div>
        ))}
      </div>
    </div>
  );
}

function Done({ rows }: { readonly rows: readonly NodeRow[] }) {
  const done = rows.filter((row) => appearanceOf(row) === 'done').length;
  return <span class="count">{`${countText(done)}/${countText(rows.length)}`}</span>;
}

interface TileProps {
  readonly row: NodeRow;
  readonly label: string | undefined;
  readonly isSelected: boolean;
  readonly isReached: boolean;
}

const Tile = memo(function Tile({ row, label, isSelected, isReached }: TileProps) {
  const word = wordOf(row);
  return (
    <li>
      <button
        type="button"
        class={`tile ${appearanceOf(row)}`}
        data-node={row.name}
        title={`${row.name}: ${word}`}
        aria-label={label === undefined ? `${row.name} ${word}` : undefined}
        aria-pressed={isSelected}
        tabIndex={isReached ? 0 : -1}
      >
        <span class="shape" aria-hidden="true">
          {shapeOf(row)}
        </span>
        {label !== undefined && <span class="label">{label}</span>}
        {label !== undefined && <span class="word">{word}</span>}
      </button>
    </li>
  );
});

interface LegendProps {
  readonly nodes: ReadonlyMap<string, NodeRow>;
  readonly only: Appearance | undefined;
  readonly choose: (appearance: Appearance) => void;
}

/** The legend: each shape with its meaning and its number of nodes. A click shows only these nodes. */
function Legend({ nodes, only, choose: choosing }: LegendProps) {
  const counts = useMemo(() => Map.groupBy(nodes.values(), appearanceOf), [nodes]);
  const present = APPEARANCES.filter((appearance) => counts.has(appearance));
  return (
    <>
      <div class="bar" aria-hidden="true">
        {present.map((appearance) => (
          <span key={appearance} class={appearance} style={{ flexGrow: counts.get(appearance)?.length ?? 0 }} />
        ))}
      </div>
      <div class="legend" role="group" aria-label="Show only nodes that are">
        {present.map((appearance) => (
          <button
            key={appearance}
            type="button"
            class="chip"
            aria-pressed={appearance === only}
            onClick={() => choosing(appearance)}
          >
            <span class={`swatch ${appearance}`} aria-hidden="true">
              {SIGNS[appearance][0]}
            </span>
            {countText(counts.get(appearance)?.length ?? 0)} {SIGNS[appearance][1]}
          </button>
        ))}
      </div>
    </>
  );
}
