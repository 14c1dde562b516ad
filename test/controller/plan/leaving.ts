import { EMPTY, enter } from '../../../runtime/api/release/ledger.ts';
import { UPDATED_FROM_ANNOTATION, VERSION_BEFORE_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import type { ReleaseView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { fleet, ledgerObject, moment, NOW, type Parts, plan, POLICY, type Rules, type World } from './fleet.ts';

/** Node a has updated from 1.0.0 to 1.1.0, and b, which has failed on it, has halted it. */

export const FAMILY = 'aws-k8s-1.33/amd64';
export const RULES: Rules = { ...POLICY, rollsBack: true, maxFailed: { kind: 'count', count: 1 } };
export const failure = { node: 'b', policy: '', attempt: 'one', reason: 'BootFailed', at: moment(-60) } as const;
export const BAD = ledgerObject({ family: FAMILY, version: '1.1.0' }, enter(EMPTY, 'uid-b', failure));

export const after = (status: Parts['status'] = {}): Parts => ({
  updatedFrom: '1.0.0',
  status: { current_version: '1.1.0', target_version: '1.1.0', ...status },
});
/** Its host offers the version before. */
export const offered = after({ target_version: '1.0.0' });

export const came = (now: string, before: string | null): object => ({
  [UPDATED_FROM_ANNOTATION]: now,
  [VERSION_BEFORE_ANNOTATION]: before,
});

export function world(a: Parts, release: Partial<ReleaseView> = {}, more: Partial<World> = {}): World {
  const releases = { objects: [{ ...BAD, ...release }], refused: new Map(), seeds: false };
  const b: Parts = { status: { current_version: '1.0.0', target_version: '1.1.0' } };
  return fleet({ a, b }, { releases, ...more });
}

export const said = (one: World, rules = RULES): readonly unknown[] =>
  plan(one, rules, NOW).commands.flatMap((command): readonly unknown[] => {
    if (command.kind === 'set-wish') return [[command.shadow, command.wish?.version_lock ?? null]];
    return command.kind === 'start' && command.node === 'a' ? [[command.node, command.version]] : [];
  });
