import type { Random } from '../../../runtime/lib/random.ts';
import type { PodDisruptionBudget } from '../../../runtime/kube/objects.ts';
import { App, type AppSpec } from './app.ts';
import { between, oneOf } from './chance.ts';
import { TOLERATIONS } from '../../sim/kubernetes/daemonsets.ts';
import type { Parts } from './lookout.ts';
import { ENDS_ANNOTATION, READY_ANNOTATION, STUCK_ANNOTATION } from './pod-times.ts';

export const SHOP = 'shop';

/** What a fleet of this size runs: two ordinary pods on a node, of a few applications. */
export function drawApps(nodes: number, random: Random): readonly AppSpec[] {
  const count = nodes <= 10 ? 2 : 4;
  return Array.from({ length: count }, (_, index) => {
    const replicas = Math.max(2, Math.round((2 * nodes) / count) + between(random, -1, 1));
    return {
      name: `app-${index + 1}`,
      namespace: SHOP,
      replicas,
      graceSeconds: oneOf(random, [5, 30, 30, 120, 600]),
      annotations: { ...times(random), ...(random() < 0.2 && { 'karpenter.sh/do-not-disrupt': 'true' }) },
      ...(random() < 0.4 && { cpu: oneOf(random, ['1', '1500m', '1900m']) }),
      ...(random() < 0.8 && { budget: drawBudget(replicas, random) }),
    };
  });
}

/** In some fleets, applications whose pods have volumes. */
export function withVolumes(apps: readonly AppSpec[], random: Random): readonly AppSpec[] {
  const share = oneOf(random, [0, 0, 0.5, 1]);
  return apps.map((app) => Object.assign({}, app, { hasVolumes: random() < share }));
}

/** Its pods may go, if only one by one: what lets none go is a fault, and comes and goes. */
function drawBudget(replicas: number, random: Random): NonNullable<AppSpec['budget']> {
  return oneOf(random, [
    { maxUnavailable: 1 },
    { maxUnavailable: '25%' },
    { minAvailable: Math.max(0, replicas - 2) },
    { minAvailable: '50%' },
  ]);
}

function times(random: Random): Readonly<Record<string, string>> {
  return {
    [READY_ANNOTATION]: String(between(random, 2000, oneOf(random, [5000, 20_000, 60_000]))),
    // Some take all the time that they are given.
    [ENDS_ANNOTATION]: String(between(random, 500, oneOf(random, [3000, 30_000, 900_000]))),
  };
}

interface WorkloadsParts extends Parts {
  readonly apps: readonly App[];
}

export function createWorkloads(parts: WorkloadsParts) {
  const { timers, hand, lookout, apps } = parts;
  let landed = 0;
  const land = (node: string, annotations: object): void => {
    const name = `landed-${(landed += 1)}`;
    const spec = { nodeName: node, containers: [{ name: 'main', image: 'landed' }], terminationGracePeriodSeconds: 10 };
    const body = { metadata: { name, labels: { app: 'landed' }, annotations }, spec };
    timers.do(() => hand.create(`/api/v1/namespaces/${SHOP}/pods`, body));
  };
  const stay = (node: string): void => {
    const name = `stays-${(landed += 1)}`;
    const app = new App({ name, namespace: SHOP, replicas: 1, node, tolerations: TOLERATIONS }, parts);
    lookout.tell(app);
    timers.do(() => app.begin());
  };
  return {
    /** A budget over the pods of one application lets none go. */
    block: (random: Random) =>
      block(
        oneOf(
          random,
          apps.filter(({ spec }) => spec.namespace === SHOP),
        ),
        parts,
        random,
      ),
    /** No application gets new pods: what is evicted finds no other place. */
    withhold: (): readonly (() => void)[] =>
      apps.filter(({ spec }) => spec.namespace === SHOP).map((app) => app.withhold()),
    // Of every other node: one that was bound just before the cordon, and does not come back; or one that always does.
    landPod: (node: string): void => (landed % 2 === 0 ? land(node, {}) : stay(node)),
    /** A pod that takes this long to end, whatever its grace period says. */
    landSlowPod: (node: string, endsMs: number): void => land(node, { [STUCK_ANNOTATION]: String(endsMs) }),
  };
}

/** The application's own budget lets none go; or a second one is made, with which the Eviction API wants nothing to do. */
function block(app: App, { hand, timers }: WorkloadsParts, random: Random): () => void {
  const { name, budget } = app.spec;
  const path = app.budgetsPath;
  const none = { maxUnavailable: 0, minAvailable: null };
  if (budget && random() < 0.75) {
    const set = (spec: object): void =>
      timers.do(async () => {
        await hand.patch(`${path}/${name}`, { spec });
        app.look();
      });
    set(none);
    return () => set({ maxUnavailable: null, minAvailable: null, ...budget });
  }
  const second = `${name}-freeze`;
  const spec: PodDisruptionBudget['spec'] = { maxUnavailable: 0, selector: { matchLabels: { app: name } } };
  timers.do(async () => {
    await hand.create(path, { metadata: { name: second }, spec });
    app.look();
  });
  return () => timers.do(() => hand.delete(`${path}/${second}`));
}
