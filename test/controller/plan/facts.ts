import type { Plan } from '../../../runtime/controller/plan/plan.ts';
import type { PolicyView, WindowState } from '../../../runtime/controller/plan/facts/policies.ts';
import type { NodeView, ShadowView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import type { UpdatePolicy } from '../../../runtime/api/policy/policy.ts';
import type { Rules, World } from './fleet.ts';
import { certainlyBusy } from './worlds.ts';

/** What is the case under policies, told from the world alone: nothing of what makes plans is asked. */

/** Who rules a node. */
export interface Ruler {
  /** Undefined for the variables, and where several claim the node. */
  readonly name: string | undefined;
  /** Names of those that claim it, where these are several. */
  readonly rivals: readonly string[];
  /** Undefined where nothing may start. */
  readonly rules: UpdatePolicy | undefined;
  readonly window: WindowState | undefined;
}

/** A plan with what it was made of. */
export interface Judged {
  readonly world: World;
  readonly rules: Rules;
  readonly now: number;
  readonly plan: Pick<Plan, 'commands' | 'verdicts'>;
}

/** A node that the plan starts. */
export interface Started {
  readonly node: NodeView;
  readonly shadow: ShadowView;
  readonly ruler: Ruler;
  readonly version: string;
}

export class Facts {
  readonly world: World;
  readonly rules: Rules;
  readonly now: number;
  readonly plan: Judged['plan'];
  readonly starts: readonly Started[];
  readonly busy: ReadonlySet<string>;

  constructor({ world, rules, now, plan }: Judged) {
    this.world = world;
    this.rules = rules;
    this.now = now;
    this.plan = plan;
    this.busy = certainlyBusy(world);
    this.starts = plan.commands
      .filter((command) => command.kind === 'start')
      .map((command) => this.#started(command.node, command.spec.version!));
  }

  #started(name: string, version: string): Started {
    const node = this.world.nodes.find((one) => one.name === name)!;
    return { node, shadow: this.shadowOf(node)!, ruler: this.rulerOf(node), version };
  }

  shadowOf({ uid }: NodeView): ShadowView | undefined {
    return this.world.shadows.find(({ owners }) => owners.includes(uid));
  }

  rulerOf({ labels }: NodeView): Ruler {
    const { policies } = this.world;
    const isLost = policies.some(({ policy }) => policy.selector === undefined);
    const claims = policies.filter(({ policy: { selector } }) => selector && isSelected(selector, labels));
    const highest = Math.max(...claims.map(({ policy }) => policy.priority ?? 0));
    const [first, ...rivals] = claims.filter(({ policy }) => policy.priority === highest);
    const nothing = { rivals: [], rules: undefined, window: undefined };
    if (first && rivals.length > 0) {
      return { ...nothing, name: undefined, rivals: [first, ...rivals].map(({ policy }) => policy.name ?? '') };
    }
    if (!first)
      return { ...nothing, name: undefined, rules: isLost ? undefined : this.rules, window: this.world.window };
    const { name } = first.policy;
    if (isLost || first.kind === 'broken' || isInCycle(first.policy, policies)) return { name, ...nothing };
    return { name, rivals: [], rules: first.policy, window: first.window };
  }

  /** Nodes that a policy rules by their labels; undefined = the variables. */
  membersOf(name: string | undefined): readonly NodeView[] {
    return this.world.nodes.filter((node) => {
      const ruler = this.rulerOf(node);
      return node.managed && ruler.name === name && (name !== undefined || ruler.rules !== undefined);
    });
  }

  isLive({ ready, name }: NodeView): boolean {
    return ready && !this.world.silentSince.has(name);
  }
}

function isSelected(selector: UpdatePolicy['selector'], labels: NodeView['labels']): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const [required] = matchExpressions;
  const inPool = matchLabels['pool'] === undefined || matchLabels['pool'] === labels['pool'];
  return inPool && (!required || required.values!.includes(labels['pool']!));
}

function isInCycle(policy: UpdatePolicy, policies: readonly PolicyView[], from = policy, seen = 0): boolean {
  if (seen > policies.length) return false;
  return policies.some(
    (one) =>
      one.kind === 'valid' &&
      from.after.includes(one.policy.name!) &&
      (one.policy.name === policy.name || isInCycle(policy, policies, one.policy, seen + 1)),
  );
}

export const isResting = ({ spec, status }: ShadowView): boolean =>
  spec.state === 'Idle' && status?.current_state === 'Idle';

/** As it is on record. */
export function hasFailedOn({ spec, status }: ShadowView, version: string): boolean {
  if (!status || status.current_version === version) return false;
  const { last_failure: recorded, failed_versions: versions, crash_count: crashes } = status;
  if (versions || recorded) return versions?.includes(version) === true;
  return crashes > 0 && spec.version === version;
}
