import { describe, expect, test } from '@jest/globals';
import { actedOn, hostCalls, records } from './reports.ts';
import { Story } from './story.ts';

const BY = { by: 'apiserver-0' } as const;
const record = (boot_id: string, requested_at: string | null = null) => ({
  reboot: { boot_id, version: '1.1.0', requested_at },
});
const WANTED = { state: 'RebootedIntoUpdate', version: '1.1.0' };
const NOW = '2026-03-02T00:00:00Z';

describe('acted-on', () => {
  const started = (): Story => new Story(actedOn).fleet('n1').start('n1');

  test('a status reaches what is wanted', () => {
    const staged = { status: { current_state: 'StagedAndPerformedUpdate' } };
    expect(started().shadow('n1', staged, BY).breaches).toEqual([]);
    expect(started().shadow('n1', { state: 'Idle' }).shadow('n1', staged, BY).breaches).toEqual([
      'n1 reports StagedAndPerformedUpdate, and is wanted in Idle',
    ]);
  });

  test('a record is one of what is wanted, and of no earlier boot than the last', () => {
    const asked = { status: record('boot of n1', NOW) };
    expect(started().shadow('n1', WANTED).shadow('n1', asked, BY).breaches).toEqual([]);
    expect(started().shadow('n1', asked, BY).breaches).toHaveLength(1);
    const later = started().shadow('n1', WANTED).host('n1', { kind: 'up', bootId: 'b', version: '1.0.0' });
    later.shadow('n1', { status: record('b') }, BY);
    expect(later.shadow('n1', asked, BY).breaches).toEqual(['the status of n1 is that of an earlier boot again']);
  });
});

describe('records', () => {
  const asked = (): Story =>
    new Story(records)
      .fleet('n1')
      .start('n1')
      .shadow('n1', { status: record('b', NOW) }, BY);

  test('go with what they were made for', () => {
    const rest = { current_state: 'RebootedIntoUpdate' };
    expect(asked().shadow('n1', { status: rest }, BY).breaches).toHaveLength(1);
    expect(asked().shadow('n1', { status: { ...rest, reboot: null } }, BY).breaches).toEqual([]);
  });

  test('of failures are left out only after two minutes of refusals', () => {
    const failed = { current_state: 'ErrorReset', reboot: null };
    const refused = {
      kind: 'request',
      ...BY,
      verb: 'patch',
      resource: 'bottlerocketshadows',
      subresource: 'status',
      name: 'brs-n1',
      code: 422,
      isVain: false,
    } as const;
    expect(asked().tell(refused).after(3).shadow('n1', { status: failed }, BY).breaches).toEqual([]);
    expect(asked().tell(refused).after(1).shadow('n1', { status: failed }, BY).breaches).toHaveLength(1);
    const broken = (minutes: number): Story =>
      asked()
        .tell(refused)
        .after(minutes)
        .tell(refused)
        .tell({ ...refused, code: 500 });
    expect(broken(3).shadow('n1', { status: failed }, BY).breaches).toEqual([]);
    expect(broken(1).tell(refused).after(1).shadow('n1', { status: failed }, BY).breaches).toHaveLength(1);
    const told = { ...failed, last_failure: { reason: 'DrainFailed' } };
    expect(asked().shadow('n1', { status: told }, BY).breaches).toEqual([]);
  });
});

describe('host-calls', () => {
  test('a host prepares what its shadow wants', () => {
    expect(new Story(hostCalls).fleet('n1').start('n1').call('n1', 'prepare-update').breaches).toEqual([]);
    expect(new Story(hostCalls).fleet('n1').call('n1', 'prepare-update').breaches).toHaveLength(1);
  });

  test('and prepares it again only once its boot is on record', () => {
    const rebooting = (): Story =>
      new Story(hostCalls)
        .fleet('n1')
        .start('n1')
        .shadow('n1', WANTED)
        .host('n1', { kind: 'up', bootId: 'b', version: '1.0.0' });
    expect(rebooting().call('n1', 'prepare-update').breaches).toHaveLength(1);
    expect(
      rebooting()
        .shadow('n1', { status: record('b') }, BY)
        .call('n1', 'prepare-update').breaches,
    ).toEqual([]);
    const once = rebooting().call('n1', 'prepare-update');
    expect(once.call('n1', 'prepare-update').breaches).toHaveLength(1);
  });
});
