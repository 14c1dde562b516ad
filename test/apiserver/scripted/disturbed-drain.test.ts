import { expect } from '@jest/globals';
import { UnreachableError } from '../../../runtime/kube/errors.ts';
import { settle } from '../../../sim/clock.ts';
import { play } from '../scenarios.ts';
import { outcome } from '../world.ts';
import {
  cordoned,
  cordons,
  ending,
  ends,
  evicts,
  follows,
  listAnswers,
  lists,
  looks,
  marks,
  node,
  NODES,
  pod,
  progress,
  proves,
  readsBudgets,
  refused,
  shadow,
  states,
} from './scenario.ts';
import { Stage } from './stage.ts';

const on = new Stage();

play('in the middle of a drain', {
  'an administrator who uncordons has the node cordoned again, and drained of what came': async () => {
    const drained = on.drainsOnePod();
    await settle();
    const uncordoned = node('n3', { marks: marks() });
    const pods = [ending('web-1'), pod('landed')];
    on.scene.api.expects(
      ...looks(uncordoned, shadow('s2', { drain: progress(1) })),
      lists(...pods),
      states('s2', progress(2), shadow('s3', { drain: progress(2) })),
      cordons('n3', cordoned('n4')),
      lists(...pods),
      [...follows(cordoned('n4'), ...pods), evicts('landed')],
    );
    on.scene.api.tell(NODES, { type: 'MODIFIED', object: uncordoned });
    expect(await outcome(drained)).toBe('pending');
    on.scene.api.expects(...ends({ before: 2, node: 'n4', shadow: 's3' }));
    await on.scene.gone('web-1', 'landed');
    expect(await outcome(drained)).toBe('ok');
  },

  'marks that vanish end it with the word to ask again': async () => {
    const drained = on.drainsOnePod();
    await settle();
    on.scene.api.tell(NODES, { type: 'MODIFIED', object: node('n3') });
    expect(await outcome(drained)).toBe('503 Superseded');
  },

  'a node that vanishes ends it, too': async () => {
    const drained = on.drainsOnePod();
    await settle();
    on.scene.api.tell(NODES, { type: 'DELETED', object: node('n3') });
    expect(await outcome(drained)).toBe('503 Superseded');
  },
});

play('a node is not cordoned', {
  'where the status cannot be written': async () => {
    const drained = on.drains(
      ...looks(node('n1'), shadow('s1')),
      lists(pod('web-1')),
      readsBudgets(),
      states('s1', progress(1), refused(403)),
    );
    await expect(drained).rejects.toThrow('403');
  },

  'where the shadow changed since it was looked at, and no drain is wanted any more': async () => {
    const drained = on.drains(
      ...looks(node('n1'), shadow('s1')),
      lists(),
      states('s1', progress(0), refused(409)),
      ...looks(node('n1'), shadow('s2', { state: 'Idle' })),
    );
    expect(await outcome(drained)).toBe('409 NotAllowed');
  },

  'where the node changed since it was looked at, and no drain is wanted any more': async () => {
    const drained = on.drains(
      ...looks(node('n1'), shadow('s1')),
      lists(),
      states('s1', progress(0), shadow('s2')),
      cordons('n1', refused(409)),
      ...looks(node('n2'), shadow('s3', { state: 'Idle' })),
    );
    expect(await outcome(drained)).toBe('409 NotAllowed');
  },
});

play('the last check', {
  'is made anew where the node changed since it was looked at': async () => {
    const drained = on.drainsOnePod();
    await settle();
    on.scene.api.expects(
      ...looks(cordoned('n2'), shadow('s2', { drain: progress(1) })),
      lists(),
      states('s2', progress(0), shadow('s3', { drain: progress(0) })),
      proves('n2', refused(409)),
      ...ends({ before: 0, node: 'n4', shadow: 's3' }),
    );
    await on.scene.gone('web-1');
    expect(await outcome(drained)).toBe('ok');
  },

  'is made anew where the shadow changed since it was looked at': async () => {
    const drained = on.drainsOnePod();
    await settle();
    on.scene.api.expects(
      ...looks(cordoned('n2'), shadow('s2', { drain: progress(1) })),
      lists(),
      states('s2', progress(0), refused(409)),
      ...ends({ before: 1, shadow: 's4' }),
    );
    await on.scene.gone('web-1');
    expect(await outcome(drained)).toBe('ok');
  },

  'is no success where the pods cannot be listed': async () => {
    for (const answer of [refused(500), refused(403), new UnreachableError('timed out')]) {
      const drained = on.drainsOnePod();
      await settle();
      on.scene.api.expects(...looks(cordoned('n2'), shadow('s2', { drain: progress(1) })), listAnswers(answer));
      await on.scene.gone('web-1');
      await expect(drained).rejects.toBe(answer);
    }
  },

  'is no success where the proof is refused': async () => {
    const drained = on.drainsOnePod();
    await settle();
    on.scene.api.expects(
      ...looks(cordoned('n2'), shadow('s2', { drain: progress(1) })),
      lists(),
      states('s2', progress(0), shadow('s3', { drain: progress(0) })),
      proves('n2', refused(403)),
    );
    await on.scene.gone('web-1');
    await expect(drained).rejects.toThrow('403');
  },
});
