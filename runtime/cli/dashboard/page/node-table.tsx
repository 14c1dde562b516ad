import type { NodeRow } from '../wire.ts';
import { memo, NodeName, Swatch } from './parts.tsx';
import { plural, versionText, wordOf } from './text.ts';

/** More rows take the browser long, and nobody reads them: the search finds the others. */
const MOST_ROWS = 300;

interface TableProps {
  readonly rows: readonly NodeRow[];
  readonly selected: string | undefined;
}

/** Nodes line by line, with what no tile has room for. */
export function NodeTable({ rows, selected }: TableProps) {
  return (
    <>
      <table class="nodes">
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">State</th>
            <th scope="col">Version</th>
            <th scope="col">Policy, zone</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map((row) => (
            <Line key={row.name} row={row} isSelected={row.name === selected} />
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS && (
        <p class="faint">Not shown: {plural(rows.length - MOST_ROWS, 'more node')}. Search for them.</p>
      )}
    </>
  );
}

const Line = memo(function Line({ row, isSelected }: { readonly row: NodeRow; readonly isSelected: boolean }) {
  const { name, runs, offered, policy, zone, reason, message, stuck } = row;
  return (
    <tr class={isSelected ? 'chosen' : ''}>
      <th scope="row">
        <NodeName name={name} />
      </th>
      <td>
        <Swatch row={row} /> {wordOf(row)}
      </td>
      <td>{versionText(runs, offered)}</td>
      <td>{[policy, zone].filter(Boolean).join(', ')}</td>
      <td title={message}>{stuck ? `${reason}: ${message}` : reason}</td>
    </tr>
  );
});
