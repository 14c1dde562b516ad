import type { NodeView, ShadowView, Snapshot } from '../../controller/plan/snapshot.ts';

/** Of an update here, where no node has completed one. */
const UNKNOWN_MS = 600_000;
/** Of an update without its soak, what goes by before the node is drained: its download and its writing. */
const STAGING_SHARE = 0.4;
/** What happens within this share of an update counts as at one moment: a large fleet is then planned for far less often. */
const GRAIN = 0.02;

/** What steps take, by what the nodes' last updates took. */
export class Durations {
  readonly #byFamily: ReadonlyMap<string, number>;
  /** Milliseconds that an update takes: the median of all that are known. */
  readonly typicalMs: number;
  /** None is known, so it is assumed. */
  readonly isAssumed: boolean;
  readonly #soakMs: (node: NodeView) => number;
  readonly #grainMs: number;

  /** @param soakMs of the policy that rules the node: the last updates included it */
  constructor({ nodes, shadows }: Pick<Snapshot, 'nodes' | 'shadows'>, soakMs: (node: NodeView) => number) {
    const families = new Map(nodes.map(({ shadowName, family }) => [shadowName, family]));
    const known = shadows.flatMap(({ name, lastUpdateMs }) =>
      lastUpdateMs === undefined ? [] : [{ family: families.get(name) ?? '', ms: lastUpdateMs }],
    );
    const medians = [...new Set(known.map(({ family }) => family))].map((family) => {
      const own = known.filter((one) => one.family === family);
      return [family, medianOf(own.map(({ ms }) => ms))] as const;
    });
    this.#byFamily = new Map(medians);
    this.isAssumed = known.length === 0;
    this.typicalMs = this.isAssumed ? UNKNOWN_MS : medianOf(known.map(({ ms }) => ms));
    this.#soakMs = soakMs;
    this.#grainMs = Math.max(1000, Math.round(this.typicalMs * GRAIN));
  }

  /** Milliseconds until the agent has done what the spec says. */
  of(node: NodeView, { spec, lastUpdateMs }: ShadowView): number {
    const whole = lastUpdateMs ?? this.#byFamily.get(node.family) ?? this.typicalMs;
    const working = Math.max(0, whole - this.#soakMs(node));
    if (spec.state === 'StagedAndPerformedUpdate') return working * STAGING_SHARE;
    return spec.state === 'RebootedIntoUpdate' ? working * (1 - STAGING_SHARE) : 0;
  }

  rounded(instant: number): number {
    return Math.round(instant / this.#grainMs) * this.#grainMs;
  }
}

function medianOf(durations: readonly number[]): number {
  return durations.toSorted((a, b) => a - b)[durations.length >> 1] ?? UNKNOWN_MS;
}
