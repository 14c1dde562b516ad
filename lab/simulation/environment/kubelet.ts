import type { Boot } from '../../sim/hosts/machine.ts';
import { isPodTerminal, type Pod } from '../../../runtime/kube/objects.ts';
import { once } from '../lines.ts';
import { between } from './chance.ts';
import { kubeletStatus, machineStatus, ownLabels, READY, STARTING } from '../../sim/kubernetes/kubelet/node-status.ts';
import { PodRun, type Program } from '../../sim/kubernetes/kubelet/pod-run.ts';
import { podPath } from '../../sim/kubernetes/pods.ts';
import { archOf, type Family, osImageOf } from './family.ts';
import type { Taint } from '../../sim/kubernetes/types.ts';
import type { Parts } from './lookout.ts';
import { podTimes } from './pod-times.ts';
import { isElsewhere, uniqueNameOf } from './volumes.ts';

/** As often as a kubelet says the same of its node again, milliseconds. */
const REPORT_MS = 300_000;
/** When a release that is unwell after a while shows it, milliseconds after the boot. */
const UNWELL_MS = [60_000, 1_500_000] as const;

/** What it takes to unmount a volume and to say so, milliseconds: usually, and where something holds it. */
const UNMOUNTED_MS = [100, 10_000] as const;
const HELD_MS = [10_000, 600_000] as const;
const HELD_SHARE = 0.1;

/** As often as it is seen whether a volume has come, milliseconds. */
const MOUNT_MS = 5000;
/** A container runtime found it gone. */
const LOST_CODES = [137, 255];

/** Its clock is that of the machine. */
interface KubeletParts extends Parts {
  readonly name: string;
  /** With which a Node is registered. */
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly family: Family;
  /** What the container of this pod runs. */
  readonly program: (pod: Pod) => Program | undefined;
  /** How a version keeps its node from being Ready. */
  readonly unwell: (version: string) => 'never-ready' | 'unwell-later' | undefined;
  /** The control plane hears of the node, or has heard the last of it for now. */
  readonly heard: () => void;
  readonly silent: () => void;
}

/** The kubelet of one machine, from boot to boot: it registers the Node, says how it is, and runs its pods. */
export class Kubelet {
  readonly #parts: KubeletParts;
  #boot: Boot | undefined;
  #registered = false;
  #ready = false;
  #mutes = 0;
  #missed: (() => unknown)[] = [];
  /** By UID. */
  readonly #runs = new Map<string, PodRun>();
  /** Volumes that are mounted, or about to be, by the UIDs of their pods. */
  readonly #volumes = new Map<string, string>();

  constructor(parts: KubeletParts) {
    this.#parts = parts;
  }

  /** The machine has booted. */
  up(boot: Boot): void {
    const { random, unwell } = this.#parts;
    this.#boot = boot;
    const startsMs = between(random, 1500, 6000);
    this.#later(startsMs, () => this.#register(boot));
    const ill = unwell(boot.version);
    if (ill !== 'never-ready') this.#later(startsMs + between(random, 1000, 12_000), () => this.#say(true));
    if (ill === 'unwell-later') this.#later(between(random, ...UNWELL_MS), () => this.#say(false));
    this.#later(REPORT_MS, () => this.#report(boot));
  }

  /** The machine is down, at once. */
  down(how: 'orderly' | 'silent'): void {
    for (const run of this.#runs.values()) void run.stop(how === 'silent' ? 'vanished' : 'killed');
    this.#runs.clear();
    this.#volumes.clear();
    this.#boot = undefined;
    this.#registered = false;
    this.#missed = [];
    this.#parts.silent();
  }

  /** It is not heard of, and hears of nothing, and containers go on. What is returned ends that. */
  mute(): () => void {
    this.#mutes += 1;
    if (this.#boot) this.#parts.silent();
    return once(() => {
      this.#mutes -= 1;
      if (this.#mutes === 0) void this.#speak();
    });
  }

  get muted(): boolean {
    return this.#mutes > 0;
  }

  /** A pod of this node has changed, or is gone. */
  podChanged(pod: Pod, gone: boolean): void {
    if (!this.#registered || this.muted) return;
    const { uid } = pod.metadata;
    const run = this.#runs.get(uid);
    if (gone) {
      void run?.stop('killed');
      this.#runs.delete(uid);
      this.#unmount(uid);
    } else if (run) run.update(pod);
    else if (!isPodTerminal(pod)) this.#runs.set(uid, this.#begin(pod));
  }

  run(uid: string): PodRun | undefined {
    return this.#runs.get(uid);
  }

  #begin(pod: Pod): PodRun {
    const { name, clock, program: programOf, lookout, random, timers, hand } = this.#parts;
    const boot = this.#boot;
    const whileWorking = (act: () => unknown): unknown => this.#whileWorking(boot, act);
    const volume = uniqueNameOf(pod);
    if (volume !== undefined) this.#mount(pod.metadata.uid, volume);
    const program = programOf(pod);
    // After a boot a kubelet knows of some of the containers when they ended, and of others nothing.
    const seen = random() < 0.5 ? { at: clock.now() } : {};
    const areThere = (): boolean =>
      volume === undefined || !isElsewhere(volume, name, lookout.nodes.values(), clock.now());
    return new PodRun(pod, {
      clock,
      program,
      times: podTimes(random, program !== undefined),
      after: (ms, act) => timers.after(ms, () => whileWorking(act)),
      do: (act) => timers.do(act),
      whileWorking,
      mounts: { everyMs: MOUNT_MS, areThere },
      lost: () => ({ exitCode: LOST_CODES[between(random, 0, 1)] ?? 255, ...seen }),
      report: (of, status) => hand.patch(`${podPath(of)}/status`, { status }),
      remove: (of) => hand.delete(podPath(of), { gracePeriodSeconds: 0, preconditions: { uid: of.metadata.uid } }),
    });
  }

  #whileWorking(boot: Boot | undefined, act: () => unknown): unknown {
    if (this.#boot !== boot) return undefined;
    if (!this.muted) return act();
    this.#missed.push(act);
    return undefined;
  }

  /** It is in use from before it is mounted until it is unmounted. */
  #mount(uid: string, volume: string): void {
    this.#volumes.set(uid, volume);
    this.#later(0, () => this.#sayVolumes());
  }

  #unmount(uid: string): void {
    if (!this.#volumes.has(uid)) return;
    const { random } = this.#parts;
    const [least, most] = random() < HELD_SHARE ? HELD_MS : UNMOUNTED_MS;
    this.#later(between(random, least, most), () => {
      this.#volumes.delete(uid);
      return this.#sayVolumes();
    });
  }

  #sayVolumes(): Promise<unknown> {
    const volumesInUse = this.#volumes.size > 0 ? [...new Set(this.#volumes.values())] : null;
    return this.#parts.hand.patch(
      `/api/v1/nodes/${this.#parts.name}/status`,
      { status: { volumesInUse } },
      'strategic',
    );
  }

  async #register(boot: Boot): Promise<void> {
    const { name, hand, labels, taints, lookout, family } = this.#parts;
    const info = { osImage: osImageOf(family, boot.version), bootID: boot.id };
    const status = { ...machineStatus(name, info, archOf(family)), ...this.#conditions(false) };
    // What an earlier boot had mounted is not in use any more.
    const anew = { status: { ...status, volumesInUse: null } };
    const patched = await hand.patch(`/api/v1/nodes/${name}/status`, anew, 'strategic');
    const own = ownLabels(name, archOf(family));
    const metadata = { name, labels: { ...own, ...labels } };
    if (!patched) await hand.create('/api/v1/nodes', { metadata, spec: taints.length > 0 ? { taints } : {}, status });
    if (this.#boot !== boot) return;
    this.#registered = true;
    this.#parts.heard();
    for (const pod of lookout.podsOn(name)) this.podChanged(pod, false);
  }

  #say(ready: boolean): Promise<unknown> {
    this.#ready = ready;
    const { name, hand, heard } = this.#parts;
    heard();
    return hand.patch(`/api/v1/nodes/${name}/status`, { status: this.#conditions(ready) }, 'strategic');
  }

  #conditions(ready: boolean): object {
    this.#ready = ready;
    const { lookout, name, clock } = this.#parts;
    return kubeletStatus(lookout.nodes.get(name), ready ? READY : STARTING, clock.now());
  }

  async #report(boot: Boot): Promise<void> {
    this.#later(REPORT_MS, () => this.#report(boot));
    if (this.#registered && this.#parts.lookout.nodes.has(this.#parts.name)) await this.#say(this.#ready);
  }

  /** It works again: it says how things are, does what it would have done, and looks at what it has missed. */
  async #speak(): Promise<void> {
    const { lookout, name } = this.#parts;
    const boot = this.#boot;
    if (this.#registered) await this.#say(this.#ready);
    const missed = this.#missed;
    this.#missed = [];
    for (const act of missed) await this.#whileWorking(boot, act);
    if (!this.#registered) return;
    const present = new Map(lookout.podsOn(name).map((pod) => [pod.metadata.uid, pod]));
    for (const [uid, run] of this.#runs) {
      if (present.has(uid)) continue;
      void run.stop('killed');
      this.#runs.delete(uid);
      this.#unmount(uid);
    }
    for (const pod of present.values()) this.podChanged(pod, false);
    for (const run of this.#runs.values()) await run.repeat();
  }

  /** In this boot, and once it works. */
  #later(ms: number, act: () => unknown): void {
    const boot = this.#boot;
    this.#parts.timers.after(ms, () => this.#whileWorking(boot, act));
  }
}
