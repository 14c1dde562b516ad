import { expect, test } from '@jest/globals';
import { saidOnce } from './policy-status.ts';
import { Story } from './story.ts';

const release = (version: string, said: object) => ({ family: 'aws', version, ...said });

function changed(before: object, after: object): readonly string[] {
  const story = new Story(saidOnce);
  for (const releases of [[before], [after]]) {
    const object = { metadata: { name: 'all', uid: 'u', resourceVersion: '1' }, status: { releases } };
    story.write('bottlerocketupdatepolicies', 'all', { object, sending: { by: 'controller-0' } });
  }
  return story.breaches;
}

test('said-once: what a status says of a release stays, but for a release that it names no more', () => {
  const complete = release('1.1.0', { provenAt: 'then', completedAt: 'then' });
  expect(changed(complete, release('1.1.0', { provenAt: 'then', completedAt: null }))).toEqual([
    'controller-0 took completedAt of aws 1.1.0 from the status of all',
  ]);
  expect(changed(complete, release('1.2.0', {}))).toEqual([]);
  expect(changed(release('1.1.0', { completedAt: null }), complete)).toEqual([]);
});
