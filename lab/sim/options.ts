import { parseArgs } from 'node:util';
import { HOST_KINDS, type HostKind } from './hosts/kinds.ts';
import { compareSemver, isSemver } from '../../runtime/api/shadow/semver.ts';

/** What `npm start` was asked for. */
export interface SimOptions {
  readonly nodes: number;
  /** What the nodes are in turn. @default Bottlerocket, all of them */
  readonly hosts?: readonly HostKind[];
  readonly concurrency: string;
  readonly from: string;
  readonly to: string;
  /** How many times faster than life hosts and pods are. */
  readonly speed: number;
  /** Fault by node name. */
  readonly faults: ReadonlyMap<string, string>;
  /** The release comes to a third of the nodes at once, and to the others in two waves. @default all may have it at once */
  readonly waves?: boolean;
  readonly keep: boolean;
  /** Shows it in a browser as well. */
  readonly dashboard?: boolean;
}

export type Parsed =
  | { readonly kind: 'run'; readonly options: SimOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

/** Agents that run as real processes; with more nodes than this all agents share the simulation's own process. */
export const MOST_AGENT_PROCESSES = 8;
const MOST_NODES = 200;

export function helpText(faults: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(faults).map((name) => name.length));
  const rows = Object.entries(faults).map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`);
  return `Rolls a simulated fleet of Bottlerocket nodes over to a new release, in an embedded cluster on this machine.

Usage: npm start -- [options]

  --nodes N           nodes in the fleet, 1 to ${MOST_NODES} (default 3)
  --host KINDS        what the nodes are in turn: ${HOST_KINDS.join(', ')} (default bottlerocket)
  --concurrency N     nodes that may update at once: a number, a percentage or "unlimited" (default 1)
  --from VERSION      version that the nodes run (default 1.38.0)
  --to VERSION        version that the hosts are offered (default 1.39.0)
  --speed N           how many times faster than life hosts, pods and reboots are (default 10)
  --fail NODE=FAULT   let something go wrong on a node, e.g. node-2=boot; may be repeated
  --waves             the release reaches node-1 at once, node-2 and node-3 in waves a minute apart, and so on in turn
  --keep              stay up afterwards and print the path of a kubeconfig, until Ctrl-C
  --dashboard         show it in your browser as well, by kubectl brupop dashboard; stays up until Ctrl-C
  --help              this text

Up to ${MOST_AGENT_PROCESSES} nodes each run their agent as a process of its own; in a larger fleet the agents share one process.
The operator's own deadlines are those of real life, except that for a node that does not return: a download that fails
is tried again for 20 minutes before it counts as failed.
The exit code is 0 when every node runs the new version and no cordon is left, 1 when not, 2 for wrong options.

Faults:
${rows.join('\n')}
`;
}

/** @param known names of the faults that a host knows */
export function parseOptions(args: readonly string[], known: readonly string[]): Parsed {
  try {
    const values = rawValues(args);
    return values.help ? { kind: 'help' } : parsed(values, known);
  } catch (error) {
    return { kind: 'faults', faults: [error instanceof Error ? error.message : String(error)] };
  }
}

function parsed(values: RawValues, known: readonly string[]): Parsed {
  const faults: string[] = [];
  const check = <T>(name: keyof RawValues, expected: string, value: T | undefined): T | undefined => {
    if (value === undefined) faults.push(`--${name}: expected ${expected}, got ${JSON.stringify(values[name])}`);
    return value;
  };
  const nodes = check('nodes', `a whole number from 1 to ${MOST_NODES}`, whole(values.nodes, MOST_NODES));
  const concurrency = check(
    'concurrency',
    'a positive integer, a percentage or "unlimited"',
    amount(values.concurrency),
  );
  const hosts = check('host', `some of ${HOST_KINDS.join(', ')}, separated by commas`, kinds(values.host));
  const speed = check('speed', 'a number from 0.1 to 1000', within(values.speed, 0.1, 1000));
  const { from, to } = versions(values, faults);
  const planted = plantedFaults(values.fail, { nodes: nodes ?? MOST_NODES, known, faults });
  if (nodes === undefined || !hosts || !concurrency || !speed || !from || !to || faults.length > 0)
    return { kind: 'faults', faults };
  const { waves, dashboard } = values;
  const keep = values.keep || dashboard;
  const options = { nodes, hosts, concurrency, from, to, speed, faults: planted, waves, keep, dashboard };
  return { kind: 'run', options };
}

type RawValues = ReturnType<typeof rawValues>;

function versions(
  values: RawValues,
  faults: string[],
): { readonly from: string | undefined; readonly to: string | undefined } {
  const read = (name: 'from' | 'to'): string | undefined => {
    if (isSemver(values[name])) return values[name];
    faults.push(`--${name}: expected a version such as 1.39.0, got ${JSON.stringify(values[name])}`);
    return undefined;
  };
  const [from, to] = [read('from'), read('to')];
  if (from && to && compareSemver(from, to) >= 0)
    faults.push(`--to: expected a version above ${from}, got ${JSON.stringify(to)}`);
  return { from, to };
}

const flag = { type: 'boolean', default: false } as const;
const usually = (value: string) => ({ type: 'string', default: value }) as const;

/** @throws TypeError on what is no option */
function rawValues(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      nodes: usually('3'),
      host: usually('bottlerocket'),
      concurrency: usually('1'),
      from: usually('1.38.0'),
      to: usually('1.39.0'),
      speed: usually('10'),
      fail: { type: 'string', multiple: true, default: [] },
      waves: flag,
      keep: flag,
      dashboard: flag,
      help: { ...flag, short: 'h' },
    },
  }).values;
}

function plantedFaults(
  texts: readonly string[],
  { nodes, known, faults }: { readonly nodes: number; readonly known: readonly string[]; readonly faults: string[] },
): ReadonlyMap<string, string> {
  const planted = new Map<string, string>();
  for (const text of texts) {
    const [, node, fault] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    const index = whole(/^node-(\d+)$/.exec(node ?? '')?.[1] ?? '', nodes);
    if (node === undefined || fault === undefined || index === undefined) {
      faults.push(`--fail: expected NODE=FAULT with a node from node-1 to node-${nodes}, got ${JSON.stringify(text)}`);
    } else if (!known.includes(fault)) {
      faults.push(`--fail: expected one of the faults ${known.join(', ')}, got ${JSON.stringify(fault)}`);
    } else {
      planted.set(node, fault);
    }
  }
  return planted;
}

function kinds(text: string): readonly HostKind[] | undefined {
  const named = text.split(',').map((name) => HOST_KINDS.find((kind) => kind === name));
  return named.every((kind) => kind !== undefined) ? named : undefined;
}

function whole(text: string, most: number): number | undefined {
  return /^[1-9]\d*$/.test(text) && Number(text) <= most ? Number(text) : undefined;
}

function within(text: string, least: number, most: number): number | undefined {
  const value = Number(text);
  return text !== '' && value >= least && value <= most ? value : undefined;
}

function amount(text: string): string | undefined {
  return /^([1-9]\d*|[1-9]\d?%|100%|unlimited)$/.test(text) ? text : undefined;
}
