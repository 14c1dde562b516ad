import type { FaultName } from '../../sim/hosts/faults.ts';
import type { SimulatedHost } from '../../sim/hosts/host.ts';
import type { Release } from '../types.ts';
import { between } from './chance.ts';
import { type Daemons, programOf } from './daemons.ts';
import type { Parts } from './lookout.ts';
import type { OperatorPods } from './operator-pods.ts';
import type { PodRun } from '../../sim/kubernetes/kubelet/pod-run.ts';
import type { Site } from './site.ts';
import type { Timers } from './timers.ts';

/** Its hand is the cloud's, which deletes Nodes of machines that are gone. */
interface MachinesParts extends Parts {
  readonly daemons: Daemons;
  readonly sites: Map<string, Site>;
  readonly troubles: Troubles;
  readonly pods: OperatorPods;
  /** Another machine, for a Node of this name. */
  readonly build: (name: string) => Site;
}

/** What keeps agents from running, by node. */
export class Troubles {
  readonly barred = new Set<string>();
  readonly expired = new Set<string>();
  readonly #flaw: (version: string) => Release['bad'];

  constructor(flaw: (version: string) => Release['bad']) {
    this.#flaw = flaw;
  }

  /** Why the container of the node's agent does not start, as a kubelet words it. */
  refusal(node: string, version: string): string | undefined {
    if (this.#flaw(version) === 'agent-never-runs') return 'CreateContainerError';
    return this.barred.has(node) ? 'ImagePullBackOff' : undefined;
  }
}

/** What may go wrong with machines, with their kubelets, and with the agents on them. A node that is not there is left alone. */
export function createMachines(parts: MachinesParts) {
  const { sites, timers, daemons, pods, troubles } = parts;
  return {
    inject: (node: string, fault: FaultName): void => sites.get(node)?.machine.host.inject(fault),
    clear: (node: string, fault: FaultName): void => timers.do(() => clear(sites.get(node), fault)),
    /** Off, at once. The control plane notices after its 40 s. */
    die: (node: string) => {
      sites.get(node)?.machine.host.powerOff();
      return () => sites.get(node)?.powerOn();
    },
    revive: (node: string): void => sites.get(node)?.powerOn(),
    rebootUnplanned: (node: string): void => sites.get(node)?.machine.host.crash(),
    /** The kubelet stops reporting, and its pods go on. */
    muteKubelet: (node: string) => sites.get(node)?.kubelet.mute() ?? (() => undefined),
    setClock: (node: string, offMs: number): void => {
      const site = sites.get(node);
      if (site) site.machine.offMs = offMs;
    },
    /** What the host's owner does, by its API. What is returned takes it back, if it is still so. */
    lock: (node: string, version: string) => {
      const host = sites.get(node)?.machine.host;
      timers.do(async () => void (host && (await setLock(host, version))));
      return () => {
        if (host?.settings.updates['version-lock'] === version) timers.do(() => unlock(host, timers));
      };
    },
    /** The Node object goes with its machine, for good. */
    remove: (node: string): void => remove(node, false, parts),
    /** It goes, and another machine registers under its name. */
    replace: (node: string): void => remove(node, true, parts),
    crashAgent: (node: string): void => pods.agent(node)?.kill(),
    loseAgent: (node: string) => loseAgent(node, parts),
    expireToken: (node: string) => marked(troubles.expired, node),
    /** The older operator's agent in place of ours. */
    runUpstreamAgent: (node: string) => {
      daemons.setAgent(node, 'upstream-agent');
      return () => daemons.setAgent(node, undefined);
    },
  };
}

async function setLock(host: SimulatedHost, version: string): Promise<boolean> {
  const body = JSON.stringify({ updates: { 'version-lock': version } });
  const patched = await host.handle({ method: 'PATCH', path: '/settings', body });
  const set = await host.handle({ method: 'POST', path: '/tx/commit_and_apply' });
  return patched.kind === 'answer' && set.kind === 'answer' && set.status === 200;
}

/** Again and again, until its API answers that it has. */
async function unlock(host: SimulatedHost, timers: Timers): Promise<void> {
  if (!(await setLock(host, 'latest'))) timers.after(60_000, () => unlock(host, timers));
}

/** With the fault ends what only a person can end: a machine that has not come back is started, and one whose tool for updates hangs or cannot begin is rebooted. */
async function clear(site: Site | undefined, fault: FaultName): Promise<void> {
  if (!site) return;
  const { host } = site.machine;
  host.clear(fault);
  if (fault === 'no-return') site.powerOn();
  if (fault !== 'hang' && fault !== 'torn-status') return;
  const status = await host.handle({ method: 'GET', path: '/updates/status' });
  if (status.kind === 'answer' && (status.status === 423 || status.status === 500)) host.crash();
}

/** Of every other node the Node goes first, and its machine goes on for a while. */
function remove(node: string, again: boolean, { sites, timers, hand, random, build }: MachinesParts): void {
  const site = sites.get(node);
  if (!site) return;
  if (again) {
    const next = build(node);
    next.replace(site);
    sites.set(node, next);
    timers.after(between(random, 60_000, 240_000), () => next.powerOn());
  } else sites.delete(node);
  const [first, second] = [0, between(random, 1000, 50_000)];
  const nodeFirst = random() < 0.5;
  timers.after(nodeFirst ? first : second, () => hand.delete(`/api/v1/nodes/${node}`));
  timers.after(nodeFirst ? second : first, () => site.scrap());
}

/** Its image is gone; or its pod is, as where the DaemonSet does not select the node any more. */
function loseAgent(node: string, { random, daemons, troubles, timers, sites, lookout }: MachinesParts): () => void {
  if (random() < 0.4) {
    daemons.setAgent(node, 'none');
    return () => daemons.setAgent(node, undefined);
  }
  const runs = (): readonly PodRun[] =>
    lookout
      .podsOn(node)
      .filter((pod) => programOf(pod) !== undefined)
      .flatMap(({ metadata: { uid } }) => sites.get(node)?.kubelet.run(uid) ?? []);
  const unbar = marked(troubles.barred, node);
  timers.do(async () => {
    for (const run of runs()) await run.bar('ImagePullBackOff');
  });
  return () => {
    unbar();
    for (const run of runs()) run.retry();
  };
}

function marked(set: Set<string>, node: string): () => void {
  set.add(node);
  return () => void set.delete(node);
}
