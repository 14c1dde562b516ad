import type { Pod } from '../../../runtime/kube/objects.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { MANAGED_LABEL, MANAGED_LABEL_VALUE } from '../../../runtime/api/shadow/names.ts';
import type { EmbeddedCluster } from '../../sim/cluster/cluster.ts';
import type { Releases } from '../../sim/hosts/releases.ts';
import type { Taint } from '../../sim/kubernetes/types.ts';
import type { TrueTime } from '../clock.ts';
import type { HostEntry, Release } from '../types.ts';
import { PROXY } from './daemons.ts';
import type { Family } from './family.ts';
import { Hand } from './hand.ts';
import { Kubelet } from './kubelet.ts';
import type { Lookout } from './lookout.ts';
import { Machine } from './machine.ts';
import type { NodeLifecycle } from './node-lifecycle.ts';
import type { OperatorPods } from './operator-pods.ts';
import type { Program } from '../../sim/kubernetes/kubelet/pod-run.ts';
import type { Timers } from './timers.ts';

export interface SiteParts {
  readonly name: string;
  readonly version: string;
  readonly family: Family;
  /** Of its Node, by which policies select. */
  readonly labels: Readonly<Record<string, string>>;
  /** With which it is registered. */
  readonly taints: readonly Taint[];
  readonly random: Random;
  readonly cluster: EmbeddedCluster;
  readonly time: TrueTime;
  readonly timers: Timers;
  readonly lookout: Lookout;
  readonly lifecycle: NodeLifecycle;
  readonly releases: Releases;
  readonly flaw: (version: string) => Release['bad'];
  readonly pods: OperatorPods;
  readonly onHost: (entry: HostEntry) => void;
}

/** A machine and the kubelet on it, under the name of a Node. */
export class Site {
  readonly name: string;
  readonly machine: Machine;
  readonly kubelet: Kubelet;
  readonly #life = new AbortController();
  #isNew = true;
  /** The machine that had the name before. */
  #before: Site | undefined;

  constructor(parts: SiteParts) {
    const { name, random, lifecycle, flaw, pods } = parts;
    const hand = new Hand(parts.cluster, `kubelet ${name}`);
    this.name = name;
    this.machine = new Machine({
      ...parts,
      ...parts.family,
      boots: (version) => flaw(version) !== 'does-not-boot',
      onUp: (boot) => this.kubelet.up(boot),
      onDown: (how) => this.kubelet.down(how),
    });
    const place = { name, machine: this.machine, hand, works: () => !this.kubelet.muted };
    this.kubelet = new Kubelet({
      ...parts,
      labels: { [MANAGED_LABEL]: MANAGED_LABEL_VALUE, ...parts.labels },
      clock: this.machine.clock,
      random,
      hand,
      program: (pod) => pods.program(pod, place) ?? this.#flawed(pod, flaw),
      unwell: (version) => {
        const bad = flaw(version);
        return bad === 'never-ready' || bad === 'unwell-later' ? bad : undefined;
      },
      heard: () => lifecycle.heard(name),
      silent: () => lifecycle.silent(name),
    });
  }

  /** What a release keeps from running that breaks what each node runs. */
  #flawed({ metadata }: Pod, flaw: SiteParts['flaw']): Program | undefined {
    const isBroken = metadata.labels?.['app'] === PROXY && flaw(this.machine.host.version) === 'breaks-daemon';
    return isBroken ? { start: () => Promise.resolve('CrashLoopBackOff'), stop: () => undefined } : undefined;
  }

  /** It takes the name of another machine, which is gone for ever before this one boots. */
  replace(before: Site): void {
    this.#before = before;
  }

  /** The machine boots, for the first time or again; nothing where it is up, or gone for ever. */
  powerOn(): void {
    if (this.#life.signal.aborted) return;
    this.#before?.scrap();
    this.#before = undefined;
    const { host } = this.machine;
    if (this.#isNew) host.start(this.#life.signal);
    else host.powerOn();
    this.#isNew = false;
  }

  /** The machine is gone for ever. */
  scrap(): void {
    this.#before?.scrap();
    this.machine.host.powerOff();
    this.#life.abort();
  }
}
