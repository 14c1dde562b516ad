import { readMarks } from '../../../runtime/api/marks/marks.ts';
import { MARKS_ANNOTATION } from '../../../runtime/api/marks/names.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import type { State } from '../../../runtime/api/shadow/states.ts';
import type { Running } from './in-cgroup.ts';
import { OFFERED, type Stand } from './stand.ts';

/** How often the drain is taken from under the agent, which then has to ask for it again. */
const MORE_ASKS = 5;
const LOOK_MS = 50;

/**
 * One update from rest to rest, the controller's part played by hand: prepared, drained with several requests, activated, rebooted into
 * with a process of its own after it, and released.
 */
export async function wholeUpdate(stand: Stand, { agent, startAnother }: Running): Promise<void> {
  let running = agent;
  const unobserve = stand.host.observe({ onDown: () => running.kill() });
  stand.onBoot = () => void (running = startAnother());
  try {
    await stand.until(({ status }) => status?.target_version === OFFERED);
    await reach(stand, 'StagedAndPerformedUpdate');
    await stand.allowDisruptions(false);
    await stand.want({ state: 'RebootedIntoUpdate', version: OFFERED });
    for (let ask = 0; ask < MORE_ASKS; ask++) await takeDrainAway(stand);
    await stand.allowDisruptions(true);
    await reach(stand, 'RebootedIntoUpdate');
    await reach(stand, 'MonitoringUpdate');
    await reach(stand, 'Idle');
  } finally {
    unobserve();
    stand.onBoot = () => undefined;
  }
}

async function reach(stand: Stand, state: State): Promise<void> {
  await stand.want({ state, version: OFFERED });
  await stand.until(({ status }) => status?.current_state === state);
}

/** Releases the marks of the drain that runs: it ends as superseded. */
async function takeDrainAway(stand: Stand): Promise<void> {
  while (readMarks(await stand.node()) === undefined) await systemClock.sleep(LOOK_MS);
  await systemClock.sleep(LOOK_MS);
  await stand.patchNode({ metadata: { annotations: { [MARKS_ANNOTATION]: null } }, spec: { unschedulable: null } });
}
