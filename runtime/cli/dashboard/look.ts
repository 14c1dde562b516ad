import type { Cluster } from '../command.ts';
import { foresee } from '../forecast/forecast.ts';
import { inspect } from '../inspect.ts';
import { inOrder } from '../past/moments.ts';
import { eventsOfFleet, ofOne } from '../past/past.ts';
import { modelOf, toldOf } from './model.ts';
import type { Model, Past } from './wire.ts';

/** How far ahead the page looks. `plan --until-done` goes to the end, which may take long. */
const AHEAD = { starts: 12, plans: 120 } as const;

/** The fleet as the page shows it. @param now milliseconds since the Unix epoch @throws as `inspect` */
export async function look(cluster: Cluster, now: number): Promise<Model> {
  const [seen, past] = await Promise.all([inspect(cluster, now), eventsOfFleet(cluster)]);
  const moments = inOrder(past.moments);
  return modelOf({ seen, forecast: foresee(seen, AHEAD), past: { ...past, moments }, cluster: cluster.context });
}

/** What happened to a node, the newest first. @throws RefusedCommandError where nothing is known of it, and as `KubeTransport.request` */
export async function pastOf(cluster: Cluster, node: string): Promise<Past> {
  const { moments, unknown } = await ofOne(cluster, node);
  return { notKnown: unknown, moments: inOrder(moments).toReversed().map(toldOf) };
}
