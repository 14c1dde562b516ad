import type { EventPort } from '../kube/events.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { eventOf } from './events.ts';
import type { ControllerMetrics } from './metrics.ts';
import type { Command } from './plan/commands.ts';
import type { Plan } from './plan/plan.ts';
import type { ShadowView, Snapshot } from './plan/snapshot.ts';
import type { Spec } from '../shadow/model.ts';

export interface ChronicleOptions {
  readonly events: EventPort;
  readonly metrics: ControllerMetrics;
  readonly logger: Logger;
  readonly clock: Clock;
  /** The operator's own. */
  readonly namespace: string;
}

/** A write without an answer. */
interface Open {
  readonly command: Telling;
  /** As it was decided on. */
  readonly shadow: ShadowView;
}

/** Tells of what was carried out: an Event for people, a line in the log, and numbers. */
export class Chronicle {
  readonly #options: ChronicleOptions;
  /** By name of the shadow. */
  readonly #open = new Map<string, Open>();

  constructor(options: ChronicleOptions) {
    this.#options = options;
  }

  /** @param shadow as the command was decided on */
  carriedOut(command: Command, shadow: ShadowView): void {
    if (!isTelling(command)) return;
    this.#open.delete(shadow.name);
    this.#tell(command, shadow);
  }

  /** Whether it was carried out, nobody knows yet. */
  unanswered(command: Command, shadow: ShadowView): void {
    if (isTelling(command)) this.#open.set(shadow.name, { command, shadow });
  }

  /** Tells of what has no answer and yet was carried out, as the cluster shows by now. */
  review({ commands, verdicts }: Pick<Plan, 'commands' | 'verdicts'>, { shadows }: Pick<Snapshot, 'shadows'>): void {
    for (const [name, { command, shadow }] of this.#open) {
      const now = shadows.find((one) => one.name === name);
      if (command.kind === 'rescue' ? isDue(command, commands) : now?.resourceVersion === shadow.resourceVersion)
        continue;
      this.#open.delete(name);
      const landed = command.kind === 'rescue' ? isSilent(command, verdicts) : now && sameSpec(command.spec, now.spec);
      if (landed) this.#tell(command, shadow);
    }
  }

  #tell(command: Telling, shadow: ShadowView): void {
    const { events, metrics, logger, clock, namespace } = this.#options;
    const now = clock.now();
    metrics.carriedOut(command, shadow, now);
    const event = eventOf({ command, shadow, namespace, now });
    if (!event) return;
    logger.info('update', { reason: event.reason, shadow: shadow.name, note: event.message });
    void events.record(event);
  }
}

/** What there is something to tell of. */
type Telling = Extract<Command, { kind: 'start' | 'set-spec' | 'call-off' | 'rescue' }>;
const TELLING: ReadonlySet<Command['kind']> = new Set<Telling['kind']>(['start', 'set-spec', 'call-off', 'rescue']);
type Rescue = Extract<Command, { kind: 'rescue' }>;

function isTelling(command: Command): command is Telling {
  return TELLING.has(command.kind);
}

/** It is planned still, so something of it is left to do. */
function isDue({ node }: Rescue, commands: readonly Command[]): boolean {
  return commands.some((command) => command.kind === 'rescue' && command.node === node);
}

/** On a node without an agent, nobody else can have done it. */
function isSilent({ node }: Rescue, verdicts: Plan['verdicts']): boolean {
  return verdicts.some((verdict) => verdict.node === node && verdict.reason === 'AgentSilent');
}

/** A write of a spec lands on the version that it was decided on, or never: another version with this spec is its doing. */
function sameSpec(written: Spec, seen: Spec): boolean {
  const fields = ['state', 'version', 'state_transition_timestamp'] as const;
  return fields.every((field) => (written[field] ?? null) === (seen[field] ?? null));
}
