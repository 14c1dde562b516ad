import type { Node } from '../../../runtime/kube/objects.ts';
import { readMarks } from '../../../runtime/api/marks/marks.ts';
import { STEP_WORDS } from '../../../runtime/controller/plan/facts/steps.ts';
import { shadowName } from '../../../runtime/api/shadow/names.ts';
import type { ReleaseResource } from '../../../runtime/api/resources.ts';
import type { State } from '../../../runtime/api/shadow/states.ts';
import type { Shadow } from '../../../runtime/api/shadow/model.ts';
import { type PublishedVersion, turnOf } from '../../../runtime/cli/waves/turns.ts';
import { publishedIn, wavesOf } from '../../../runtime/cli/waves/waves.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { familyOf, versionOfOsImage } from '../../../runtime/api/shadow/semver.ts';
import { verdictOf } from './verdict.ts';

/** What the table says of one node. */
export interface Row {
  readonly node: string;
  readonly version: string;
  readonly state: string;
  /** The controller's reason for it being so. */
  readonly why: string;
  /** Pods of the drain set that are still there; undefined while no drain runs. */
  readonly podsLeft: number | undefined;
  /** Milliseconds since its update began, or that it took; undefined before. */
  readonly elapsedMs: number | undefined;
}

/** What rows are made of, by name. */
export interface RowSource {
  readonly nodes: ReadonlyMap<string, Node>;
  readonly shadows: ReadonlyMap<string, Shadow>;
  readonly releases: ReadonlyMap<string, ReleaseResource>;
  /** Start and end of each node's update, milliseconds on the wall clock. */
  readonly updates: ReadonlyMap<string, { readonly startMs: number; readonly endMs?: number | undefined }>;
}

/** node-2 before node-10. */
const NATURAL = new Intl.Collator('en', { numeric: true });

/** @param nowMs wall clock, milliseconds since the Unix epoch */
export function rowsOf({ nodes, shadows, releases, updates }: RowSource, nowMs: number): Row[] {
  const sorted = [...nodes.values()].toSorted((a, b) => NATURAL.compare(a.metadata.name, b.metadata.name));
  const published = wavesOf([], [], [...releases.values()]);
  return sorted.map((node) => {
    const { name } = node.metadata;
    const shadow = shadows.get(shadowName(name));
    const update = updates.get(name);
    return {
      node: name,
      version: versionOfOsImage(node.status?.nodeInfo?.osImage) ?? '?',
      state: stateOf(node, shadow),
      why: [reasonOf(shadow), waveOf(publishedIn(published, familyOf(node)), shadow, nowMs)].filter(Boolean).join(', '),
      podsLeft: readMarks(node) ? shadow?.status?.drain?.pods_left : undefined,
      elapsedMs: update && (update.endMs ?? nowMs) - update.startMs,
    };
  });
}

function stateOf(node: Node, shadow: Shadow | undefined): string {
  const ready = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  return [progress(node, shadow), ready ? '' : 'NotReady', node.spec?.unschedulable ? 'cordoned' : '']
    .filter(Boolean)
    .join(', ');
}

/** In the words that the plug-in has for steps. */
function progress(node: Node, shadow: Shadow | undefined): string {
  if (!shadow?.status) return 'no agent yet';
  const { spec, status } = shadow;
  const [before, after] = STEPS_TO[spec.state];
  if (status.current_state === spec.state) return after;
  if (spec.state !== 'RebootedIntoUpdate') return before;
  if (status.current_version === spec.version) return after;
  return readMarks(node)?.drained === undefined ? before : STEP_WORDS.rebooting;
}

/** What a node does until it has reached the state that is wanted, and then. */
const STEPS_TO: Readonly<Record<State, readonly [before: string, after: string]>> = {
  Idle: [STEP_WORDS.returning, 'idle'],
  StagedAndPerformedUpdate: [STEP_WORDS.staging, STEP_WORDS.staged],
  RebootedIntoUpdate: [STEP_WORDS.draining, STEP_WORDS.soaking],
  MonitoringUpdate: [STEP_WORDS.soaking, STEP_WORDS.soaking],
  ErrorReset: [STEP_WORDS.returning, STEP_WORDS.returning],
};

function reasonOf(shadow: Shadow | undefined): string {
  if (!shadow?.status) return '';
  const { crash_count: crashes, last_failure: failure } = shadow.status;
  const failed =
    crashes > 0 && failure ? `(${[failure.reason, failure.version].filter(Boolean).join(' ')})` : undefined;
  return [verdictOf(shadow)?.reason, failed].filter(Boolean).join(' ');
}

/** When the newest release comes to a host that is not offered it yet. */
function waveOf([newest]: readonly PublishedVersion[], shadow: Shadow | undefined, nowMs: number): string {
  const { status } = shadow ?? {};
  if (!newest || !status || status.target_version === newest.version) return '';
  const turn = turnOf(newest, status.update_settings);
  return turn.kind === 'wave' && turn.at > nowMs ? `wave at ${rfc3339(turn.at).slice(11)}` : '';
}

/** Seconds and minutes, e.g. `8s`, `2m05s`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}

const HEAD = ['NODE', 'VERSION', 'STATE', 'WHY', 'PODS', 'TIME'] as const;

/** Columns of text that each column of the table needs, and no fewer than before: then a table that is drawn again does not jump. */
export function tableWidths(rows: readonly Row[], before: readonly number[] = []): readonly number[] {
  const cells = rows.map(cellsOf);
  return HEAD.map((head, column) =>
    Math.max(head.length, before[column] ?? 0, ...cells.map((row) => row[column]?.length ?? 0)),
  );
}

/** The table as lines of text, each cut to `width` columns. */
export function table(rows: readonly Row[], width: number, widths: readonly number[] = tableWidths(rows)): string[] {
  return [[...HEAD], ...rows.map(cellsOf)].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
      .slice(0, width),
  );
}

function cellsOf({ node, version, state, why, podsLeft, elapsedMs }: Row): string[] {
  const pods = podsLeft === undefined ? '' : String(podsLeft);
  return [node, version, state, why, pods, elapsedMs === undefined ? '' : duration(elapsedMs)];
}

/** One line for a node that changed, for output that is no terminal. */
export function line(row: Row): string {
  const pods = row.podsLeft === undefined ? '' : ` pods left ${row.podsLeft}`;
  const time = row.elapsedMs === undefined ? '' : ` after ${duration(row.elapsedMs)}`;
  return `${row.node} ${row.version} ${row.state} ${row.why}${pods}${time}`.trimEnd();
}
