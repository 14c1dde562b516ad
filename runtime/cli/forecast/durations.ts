import type { NodeView, ShadowView, Snapshot } from '../../controller/plan/facts/snapshot.ts';

/** Assumed duration of an update where no node has completed one, milliseconds. */
const ASSUMED_MS = 600_000;
/** The share of an update, without its soak, before the drain begins: download and writing of the image. */
const STAGING_SHARE = 0.4;
/** Instants are rounded to this share of an update, because a large fleet then needs far fewer plans. */
const GRAIN = 0.02;

/** The median; undefined for no durations. */
export function medianOf(durations: readonly number[]): number | undefined {
  return durations.toSorted((a, b) => a - b)[durations.length >> 1];
}

/** How long steps take, estimated from the nodes' last updates. */
export class Durations {
  readonly #byFamily: ReadonlyMap<string, number>;
  /** Duration of an update, milliseconds: the median of all known ones. */
  readonly typicalMs: number;
  /** Whether `typicalMs` is an assumption, because no duration is known. */
  readonly isAssumed: boolean;
  readonly #soakMs: (node: NodeView) => number;
  readonly #grainMs: number;

  /** @param soakMs soak time of a node, which is part of its last update, milliseconds */
  constructor({ nodes, shadows }: Pick<Snapshot, 'nodes' | 'shadows'>, soakMs: (node: NodeView) => number) {
    const families = new Map(nodes.map(({ shadowName, family }) => [shadowName, family]));
    const known = shadows.flatMap(({ name, lastUpdateMs }) =>
      lastUpdateMs === undefined ? [] : [{ family: families.get(name) ?? '', ms: lastUpdateMs }],
    );
    const medians = [...new Set(known.map(({ family }) => family))].map((family) => {
      const own = known.filter((one) => one.family === family);
      return [family, medianOf(own.map(({ ms }) => ms)) ?? ASSUMED_MS] as const;
    });
    this.#byFamily = new Map(medians);
    this.isAssumed = known.length === 0;
    this.typicalMs = medianOf(known.map(({ ms }) => ms)) ?? ASSUMED_MS;
    this.#soakMs = soakMs;
    this.#grainMs = Math.max(1000, Math.round(this.typicalMs * GRAIN));
  }

  /** Milliseconds until the agent has reached the state in the spec. What is staged already takes no time. */
  of(node: NodeView, shadow: ShadowView): number {
    const { spec, status } = shadow;
    if (spec.state === 'RebootedIntoUpdate') return this.#workingMs(node, shadow) * (1 - STAGING_SHARE);
    const isStaged = spec.version != null && status?.staged?.version === spec.version;
    return spec.state === 'StagedAndPerformedUpdate' && !isStaged ? this.stagingMs(node, shadow) : 0;
  }

  /** Milliseconds that a version takes to be prepared. */
  stagingMs(node: NodeView, shadow: ShadowView): number {
    return this.#workingMs(node, shadow) * STAGING_SHARE;
  }

  #workingMs(node: NodeView, { lastUpdateMs }: ShadowView): number {
    const whole = lastUpdateMs ?? this.#byFamily.get(node.family) ?? this.typicalMs;
    return Math.max(0, whole - this.#soakMs(node));
  }

  rounded(instant: number): number {
    return Math.round(instant / this.#grainMs) * this.#grainMs;
  }
}
