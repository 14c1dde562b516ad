import type { Ports } from '../ports.ts';
import type { Drain, DrainSettings } from '../../drain/drain.ts';
import { drainMayTimeOut, drainStopsWebhooks, podsStuck } from './events.ts';
import { podsLeft } from '../../drain/filter.ts';
import { podName } from '../../drain/pod.ts';
import { outlasting } from '../../drain/preflight.ts';
import { fatalWebhooks, lastBackendsOn } from '../../drain/webhooks.ts';

/** Tells, when a drain begins, which of its pods may take longer than the drain may. */
export function tellMayTimeOut(ports: Ports, { node, id, list }: Drain, { timeoutMs }: DrainSettings): void {
  const slow = outlasting(podsLeft(list), timeoutMs);
  if (slow.length === 0) return;
  void ports.events.record(node, drainMayTimeOut(timeoutMs, slow));
  const fields = { node: node.metadata.name, drain: id, pods: slow.map(podName) };
  ports.logger.warn('pods may outlast their drain', fields);
}

/** Tells, when a drain begins, which webhooks it may stop, and with them itself. It waits for nothing of that. Never rejects. */
export async function tellLastBackends(
  { transport, webhooks, events, logger }: Ports,
  { node, id }: Drain,
): Promise<void> {
  const { name } = node.metadata;
  const known = webhooks.get('fatal', () => fatalWebhooks(transport));
  const found = await known
    .then((fatal) => lastBackendsOn(transport, name, fatal))
    .catch((error: unknown) => {
      logger.debug('webhooks not read before a drain', { node: name, error });
      return [];
    });
  if (found.length === 0) return;
  void events.record(node, drainStopsWebhooks(found));
  logger.warn('the only ready pods behind webhooks are on the node', { node: name, drain: id, services: found });
}

/** Tells which pods the drain does not wait for, though they have not ended. */
export function tellStuck(ports: Ports, { node, id, list: { stuck } }: Drain): void {
  if (stuck.length === 0) return;
  void ports.events.record(node, podsStuck(stuck));
  ports.logger.warn('pods are stuck', { node: node.metadata.name, drain: id, pods: stuck.map(podName) });
}
