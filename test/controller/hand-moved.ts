import { readMarks } from '../../runtime/api/marks/marks.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import type { Spec, Status } from '../../runtime/api/shadow/model.ts';
import { shadowName } from '../../runtime/api/shadow/names.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import type { Stage } from './stage.ts';

/** A node as the API server has it. */
export interface Seen {
  readonly name: string;
  readonly spec: Spec;
  readonly status: Status;
  readonly marks: ReturnType<typeof readMarks>;
}

export const isUnderWay = ({ spec, status, marks }: Seen): boolean =>
  marks !== undefined || status.current_state !== 'Idle' || spec.state !== 'Idle';

export const isUpdated = ({ spec, status }: Seen): boolean =>
  spec.state === 'Idle' && status.current_state === 'Idle' && status.current_version === '1.1.0';

/** Agents of ours on a stage, each of which does one thing at a time, with what its drain does to its Node. */
export class HandMoved {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async seen(name: string): Promise<Seen> {
    const { spec, status } = (await this.#stage.shadows.get(shadowName(name)))!;
    return { name, spec, status: status!, marks: readMarks((await this.#stage.nodes.get(name))!) };
  }

  /** The next thing that it does. */
  async move(name: string): Promise<void> {
    const now = await this.seen(name);
    const { state } = now.spec;
    const { current_state: reached } = now.status;
    if (state === 'RebootedIntoUpdate' && reached === 'StagedAndPerformedUpdate') await this.#reboot(now);
    else if (state === 'Idle' && reached !== 'Idle') await this.#rest(name, reached);
    else if (state !== reached) await this.#stage.report(name, { current_state: state });
  }

  async fail(name: string): Promise<void> {
    const { version } = (await this.seen(name)).spec;
    await this.#stage.report(name, {
      current_state: 'ErrorReset',
      crash_count: 1,
      failed_versions: version == null ? [] : [version],
      state_transition_failure_timestamp: rfc3339(this.#stage.clock.now()),
    });
  }

  async #reboot({ name, spec, status, marks }: Seen): Promise<void> {
    const version = spec.version ?? '';
    if (!marks?.drained) await this.#stage.mark(name, { drained: marks !== undefined });
    else if (!status.reboot) {
      const requested_at = rfc3339(this.#stage.clock.now());
      await this.#stage.report(name, { reboot: { boot_id: 'boot-1', version, requested_at } });
    } else {
      await this.#release(name);
      await this.#stage.report(name, { current_state: 'RebootedIntoUpdate', current_version: version });
    }
  }

  async #rest(name: string, reached: Status['current_state']): Promise<void> {
    await this.#release(name);
    await this.#stage.report(name, {
      current_state: 'Idle',
      reboot: null,
      ...(reached !== 'ErrorReset' && { crash_count: 0 }),
    });
  }

  #release(name: string): Promise<void> {
    const annotations = { [MARKS_ANNOTATION]: null };
    return this.#stage.patchNode(name, { metadata: { annotations }, spec: { unschedulable: null } });
  }
}
