import { expect } from '@jest/globals';
import { settle } from '../../../sim/clock.ts';
import { COMPONENT_LABEL, COMPONENTS, NAMESPACE } from '../../../runtime/shadow/names.ts';
import { play } from '../scenarios.ts';
import { outcome } from '../world.ts';
import type { AnyOrder, Call } from './api.ts';
import {
  anotherNode,
  awaitsVolumes,
  begins,
  cordoned,
  cordons,
  ending,
  ends,
  evicts,
  follows,
  lists,
  looks,
  looksElsewhere,
  marks,
  node,
  NODES,
  pod,
  podAnswers,
  PODS,
  progress,
  proves,
  readsBudgets,
  readsVolume,
  refused,
  shadow,
  SINCE,
  states,
  tells,
  volumeName,
} from './scenario.ts';
import { Stage } from './stage.ts';

const on = new Stage();

const web = pod('web-1');
const tolerations = [{ operator: 'Exists' }];
const controller = pod('controller', {
  metadata: { namespace: NAMESPACE, labels: { [COMPONENT_LABEL]: COMPONENTS.controller } },
});
const TERMINATING = refused(403, { reason: 'Forbidden', details: { causes: [{ reason: 'NamespaceTerminating' }] } });

/** A drain that finds none of these pods to be its business. @param asks what decides it, at each look */
const leaves = (pods: readonly object[], ...asks: readonly Call[]): (Call | AnyOrder)[] => [
  ...looks(node('n1'), shadow('s1')),
  lists(...pods),
  ...asks,
  states('s1', progress(0), shadow('s2', { drain: progress(0) })),
  cordons('n1', cordoned('n2')),
  [tells('DrainStarted'), lists(...pods)],
  ...asks,
  proves('n2', node('n3')),
  tells('DrainFinished'),
];

/** The pods of a drain that still waits go, and it ends. */
async function endsOnceGone(drained: Promise<void>, ...names: readonly string[]): Promise<void> {
  expect(await outcome(drained)).toBe('pending');
  on.scene.api.expects(...ends({ before: names.length }));
  await on.scene.gone(...names);
  expect(await outcome(drained)).toBe('ok');
}

async function asksNoMore(answer: unknown, ...then: readonly Call[]): Promise<void> {
  const drained = on.drains(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1', answer), ...then]);
  await on.scene.clock.advance(30_000);
  await endsOnceGone(drained, 'web-1');
}

play('a drain', {
  'of an empty node cordons it, marks it and proves it empty': async () => {
    expect(await outcome(on.drains(...leaves([])))).toBe('ok');
  },

  'evicts the pods of its node and ends as the last of them goes': async () => {
    const pods = [web, pod('web-2')];
    const evictions = ['web-1', 'web-2'].map((name) => evicts(name));
    const drained = on.drains(...begins(...pods), [...follows(cordoned('n2'), ...pods), ...evictions]);
    await endsOnceGone(drained, 'web-1', 'web-2');
    expect(on.scene.clock.monotonic()).toBe(0);
  },

  'waits for a pod that ends already, and asks for no eviction': async () => {
    const pods = [ending('web-1')];
    await endsOnceGone(on.drains(...begins(...pods), follows(cordoned('n2'), ...pods)), 'web-1');
  },

  'leaves the pods of DaemonSets, mirror pods and finished pods alone': async () => {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', uid: 'uid-logs', controller: true };
    const pods = [
      pod('logs', { metadata: { ownerReferences: [owner] } }),
      pod('mirror', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
      pod('done', { phase: 'Succeeded' }),
      pod('failed', { phase: 'Failed' }),
    ];
    expect(await outcome(on.drains(...leaves(pods)))).toBe('ok');
  },

  'evicts pods with local data and pods that nothing would create anew': async () => {
    const pods = [pod('local', { spec: { volumes: [{ name: 'data', emptyDir: {} }] } }), pod('bare')];
    const evictions = [evicts('local'), evicts('bare')];
    const drained = on.drains(...begins(...pods), [...follows(cordoned('n2'), ...pods), ...evictions]);
    await endsOnceGone(drained, 'local', 'bare');
  },

  'evicts a pod that lands in its middle': async () => {
    const drained = on.drainsOnePod();
    await settle();
    on.scene.api.expects(evicts('late'));
    await on.scene.tells('ADDED', pod('late'));
    await on.scene.gone('web-1');
    await endsOnceGone(drained, 'late');
  },

  'evicts a pod that tolerates the cordon but was there before it': async () => {
    const pods = [pod('tolerates', { spec: { tolerations } })];
    const drained = on.drains(...begins(...pods), [...follows(cordoned('n2'), ...pods), evicts('tolerates')]);
    await endsOnceGone(drained, 'tolerates');
  },

  'names a pod that came after the cordon and tolerates it, and does not wait for it': async () => {
    const came = pod('came', { metadata: { creationTimestamp: '2026-01-01T00:00:01Z' }, spec: { tolerations } });
    const drained = on.drainsOnePod();
    await settle();
    await on.scene.tells('ADDED', came);
    on.scene.api.expects(...ends({ before: 1, pods: [came], words: 'shop/came' }));
    await on.scene.gone('web-1');
    expect(await outcome(drained)).toBe('ok');
  },

  'asks no more for a pod that is gone': async () => {
    await asksNoMore(refused(404), podAnswers(refused(404)));
    await asksNoMore(refused(409), podAnswers(refused(404)));
  },

  'leaves the namesake alone that has taken a pod’s place on another node': () =>
    asksNoMore(refused(409), podAnswers(pod('web-1', { metadata: { uid: 'uid-other' } }))),

  'waits for the pods of a namespace that ends': async () => {
    const drained = on.drains(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1', TERMINATING)]);
    await settle();
    on.scene.api.expects(states('s2', progress(1), shadow('s2', { drain: progress(1) })));
    await on.scene.tells('MODIFIED', ending('web-1'));
    await on.scene.clock.advance(30_000);
    await endsOnceGone(drained, 'web-1');
  },

  'waits until the volumes of its pods are unmounted, and not for those of a pod that stays': async () => {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', uid: 'uid-logs', controller: true };
    const volumes = [{ name: 'logs', persistentVolumeClaim: { claimName: 'logs' } }];
    const logs = pod('logs', { metadata: { ownerReferences: [owner] }, spec: { volumes } });
    const using = (version: string, claims: readonly string[], since = {}): object =>
      node(version, { cordoned: true, marks: marks(since), volumes: claims.map(volumeName) });
    const since = { volumesSince: SINCE };
    const looksAgain = [
      lists(logs),
      states('s2', progress(0), shadow('s2', { drain: progress(0) })),
      ...readsVolume('logs'),
    ];
    const drained = on.drains(
      ...looks(node('n1'), shadow('s1')),
      lists(logs),
      states('s1', progress(0), shadow('s2', { drain: progress(0) })),
      cordons('n1', using('n2', ['data', 'logs'])),
      [tells('DrainStarted'), lists(logs)],
      ...readsVolume('logs'),
      awaitsVolumes('n2', using('n3', ['data', 'logs'], since)),
      [
        tells('WaitingForVolumes', volumeName('data')),
        { line: `GET ${NODES}/n1`, answer: using('n3', ['data', 'logs'], since) },
      ],
      ...looks(undefined, shadow('s2', { drain: progress(0) })).slice(1),
      ...looksAgain,
      ...follows(using('n3', ['data', 'logs'], since)).slice(0, 2),
    );
    expect(await outcome(drained)).toBe('pending');
    on.scene.api.expects(
      ...looks(using('n4', ['logs'], since), shadow('s2', { drain: progress(0) })),
      ...looksAgain,
      proves('n4', node('n5')),
      tells('DrainFinished'),
    );
    on.scene.api.tell(NODES, { type: 'MODIFIED', object: using('n4', ['logs'], since) });
    expect(await outcome(drained)).toBe('ok');
  },

  'outlives watches that break': async () => {
    const { api, clock } = on.sets(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1')]);
    const { drain, tap } = on.scene.replica();
    const drained = drain();
    await settle();
    tap.cut(new Error('cut'));
    api.expects([NODES, PODS].map((path) => ({ line: `WATCH ${path}`, query: { resourceVersion: '9' }, answer: [] })));
    await clock.advance(1_000);
    await endsOnceGone(drained, 'web-1');
  },

  'evicts the operator’s own pods last': async () => {
    const pods = [controller, web];
    const elsewhere = looksElsewhere(cordoned('n2'), anotherNode('True'));
    const drained = on.drains(
      ...looks(node('n1'), shadow('s1')),
      lists(...pods),
      elsewhere,
      readsBudgets(),
      states('s1', progress(2), shadow('s2', { drain: progress(2) })),
      cordons('n1', cordoned('n2')),
      [tells('DrainStarted'), lists(...pods)],
      elsewhere,
      [...follows(cordoned('n2'), ...pods), elsewhere, evicts('web-1')],
    );
    await settle();
    on.scene.api.expects(elsewhere, evicts('controller', {}, NAMESPACE));
    await on.scene.gone('web-1');
    expect(await outcome(drained)).toBe('pending');
    on.scene.api.expects(...ends({ before: 2 }));
    await on.scene.tells('DELETED', controller);
    expect(await outcome(drained)).toBe('ok');
  },

  'leaves the operator’s own pods where no other node could take them': async () => {
    const drained = on.drains(...leaves([controller], looksElsewhere(cordoned('n2'), anotherNode('False'))));
    expect(await outcome(drained)).toBe('ok');
  },
});
