import type { ShadowObject } from '../../../runtime/api/resources.ts';
import type { Status } from '../../../runtime/api/shadow/model.ts';
import { MINUTE_MS, rfc3339 } from '../../../runtime/lib/clock.ts';
import { Stage } from '../../../test/controller/stage.ts';
import type { Bench, Figure } from '../bench.ts';

const SECOND_MS = 1000;
/** What agents take, milliseconds, and how often they look. */
const PREPARE_MS = MINUTE_MS;
const REBOOT_MS = 3 * MINUTE_MS;
const LOOK_MS = 5 * SECOND_MS;

const PLACES = 3;
const NODES = 30;
const NEXT = '1.1.0';

interface Terms {
  readonly nodes: number;
  readonly places: number;
  /** The node of which a budget lets no pod go, by its turn; undefined = none. */
  readonly blocked?: number;
}

const nameOf = (turn: number): string => `n${String(turn).padStart(2, '0')}`;

/** A fleet under the real controller in virtual time. Its agents take as long as they are told, and one of them cannot be drained. */
class Fleet {
  readonly #stage: Stage;
  readonly #blocked: string | undefined;
  /** By name, since when it does what it is told. */
  readonly #began = new Map<string, { readonly step: string; readonly at: number }>();

  constructor(stage: Stage, blocked: string | undefined) {
    this.#stage = stage;
    this.#blocked = blocked;
  }

  /** Lets each agent do what is due. @returns how many of the others run the release, at rest */
  async act(): Promise<number> {
    const shadows = await this.#stage.shadows.list();
    for (const shadow of shadows) await this.#actFor(shadow.metadata.name.replace('brs-', ''), shadow);
    return shadows.filter(({ status }) => status?.current_state === 'Idle' && status.current_version === NEXT).length;
  }

  async #actFor(name: string, shadow: ShadowObject): Promise<void> {
    const step = `${shadow.spec.state} ${shadow.status?.current_state}`;
    const now = this.#stage.clock.now();
    const known = this.#began.get(name);
    const at = known?.step === step ? known.at : now;
    this.#began.set(name, { step, at });
    if (shadow.spec.state === 'RebootedIntoUpdate' && name === this.#blocked) return this.#drain(name, at);
    const said = saidAfter(shadow, now - at);
    return said && this.#stage.report(name, said);
  }

  /** It takes its place for as long as the rollout lasts. */
  async #drain(name: string, at: number): Promise<void> {
    const now = this.#stage.clock.now();
    if (at === now) await this.#stage.mark(name);
    const blocked_by = ['PodDisruptionBudget shop/web (pod shop/web-1)'];
    const drain = { started_at: rfc3339(at), reported_at: rfc3339(now), pods_left: 1, blocked_by };
    await this.#stage.report(name, { drain });
  }
}

/** What an agent reports that was told so this long ago; undefined while it works, or has nothing to do. */
function saidAfter({ spec, status }: ShadowObject, ms: number): Partial<Status> | undefined {
  const { state } = spec;
  if (!status || state === status.current_state) return undefined;
  if (state === 'RebootedIntoUpdate')
    return ms >= REBOOT_MS ? { current_state: state, current_version: NEXT } : undefined;
  return state !== 'StagedAndPerformedUpdate' || ms >= PREPARE_MS ? { current_state: state } : undefined;
}

/** Until all nodes but the blocked one run the release, seconds. */
async function seconds({ nodes, places, blocked }: Terms): Promise<number> {
  const stage = await Stage.with(...Array.from({ length: nodes }, (_, turn) => nameOf(turn)));
  const others = blocked === undefined ? nodes : nodes - 1;
  const fleet = new Fleet(stage, blocked === undefined ? undefined : nameOf(blocked));
  const begun = stage.clock.now();
  stage.start({ env: { MAX_CONCURRENT_UPDATE: String(places), PROOF_NODES: '1' } });
  while ((await fleet.act()) < others) await stage.pass(LOOK_MS);
  const endedAt = stage.clock.now();
  await stage.end();
  return (endedAt - begun) / SECOND_MS;
}

const figure = (name: string, value: number, atMost: number): Figure => ({ name, value, unit: 's', atMost });

/** What a node that can never be drained costs all others, besides the place that it takes: here no deadline gives that back. */
export const blocked: Bench = {
  name: 'blocked drain',
  what: '29 nodes beside one that can never be drained, in virtual time, and with one place less without it',
  run: async () => {
    const without = await seconds({ nodes: NODES - 1, places: PLACES - 1 });
    const after = async (turn: number): Promise<number> =>
      (await seconds({ nodes: NODES, places: PLACES, blocked: turn })) - without;
    return [
      figure('delay of the others where it is in the middle', await after(15), 0),
      figure(
        'the same where it is to prove the release',
        await after(0),
        (PREPARE_MS + 2 * MINUTE_MS) / SECOND_MS + 10,
      ),
    ];
  },
};
