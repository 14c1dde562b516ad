import { isReady, type Node } from '../../../runtime/kube/objects.ts';
import { objectPath } from '../../../runtime/kube/paths.ts';
import { nodesOf } from '../../../runtime/kube/resources.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import { LEASES } from '../kubernetes/kubelet/kubelet.ts';
import { mergePatch } from '../kubernetes/pods.ts';
import { renewed } from '../kubernetes/kubelet/node-status.ts';

/** As a real kubelet. */
const EVERY_MS = 10_000;

/** Renews the Leases of nodes that are up until the signal aborts. Nothing in the cluster waits for that: it is for people who look. */
export async function renewLeases(transport: KubeTransport, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    await clock.sleep(EVERY_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    const up = (await nodesOf(transport).list()).filter((node: Node) => isReady(node));
    await Promise.all(up.map(({ metadata }) => renew(transport, metadata.name, clock.now())));
  }
}

async function renew(transport: KubeTransport, name: string, now: number): Promise<void> {
  // Whose Node has just been deleted has no Lease any more.
  await transport.request(mergePatch(objectPath(LEASES, name), { spec: renewed(now) })).catch(() => undefined);
}
