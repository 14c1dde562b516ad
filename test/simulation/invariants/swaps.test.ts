import { describe, expect, test } from '@jest/globals';
import type { RequestEntry } from '../types.ts';
import { MARKED, PROVEN, Story } from './story.ts';
import { lastLook, swaps } from './swaps.ts';

const request = (change: Partial<RequestEntry>): RequestEntry => ({
  kind: 'request',
  by: 'apiserver-0',
  verb: 'patch',
  resource: 'nodes',
  name: 'n1',
  code: 200,
  version: '7',
  isVain: false,
  ...change,
});

describe('swaps', () => {
  const found = (change: Partial<RequestEntry>): readonly string[] => new Story(swaps).tell(request(change)).breaches;

  test('a write that says on what it was decided', () => {
    expect(found({})).toEqual([]);
    expect(found({ version: undefined })).toEqual(['apiserver-0 wrote nodes n1, whatever it had become']);
    expect(found({ version: undefined, code: 409 })).toEqual([]);
    expect(found({ version: undefined, by: 'kubelet n1' })).toEqual([]);
  });

  test('and that changes something; a status may be said twice', () => {
    expect(found({ isVain: true })).toEqual(['apiserver-0 wrote nodes n1 as it was: that keeps nobody from it']);
    expect(found({ isVain: true, resource: 'bottlerocketshadows', subresource: 'status' })).toEqual([]);
    const renews = request({
      by: 'controller-0',
      verb: 'update',
      resource: 'leases',
      name: 'brupop-controller',
      isVain: true,
    });
    expect(new Story(swaps).tell(renews).breaches).toHaveLength(1);
    // Its clock was set back, and names the same time again.
    const jumps = {
      kind: 'fault',
      id: 1,
      name: 'clock-jumps',
      about: 'controller-0, off by -2 s',
      phase: 'begins',
    } as const;
    expect(new Story(swaps).tell(jumps).tell(renews).breaches).toEqual([]);
  });
});

describe('last-look', () => {
  const read = (shown: string): RequestEntry => request({ verb: 'get', shown });
  const listed = request({ verb: 'list', resource: 'pods', name: undefined });
  const looked = (...requests: readonly RequestEntry[]): Story => {
    const story = new Story(lastLook).fleet('n1').node('n1', { cordoned: true, marks: MARKED }, { by: 'apiserver-0' });
    for (const one of requests) story.tell(one);
    return story.node('n1', { marks: PROVEN }, { by: 'apiserver-0', version: '9' });
  };

  test('the Node is read, then its pods are listed, then the proof is written', () => {
    expect(looked(read('9'), listed).breaches).toEqual([]);
    expect(looked(read('9'), listed, read('9')).breaches).toEqual([]);
  });

  test('a Node that has changed since its pods were listed', () => {
    expect(looked(read('8'), listed, read('9')).breaches).toEqual([
      'apiserver-0 proved n1 to be drained as it was after the last look at its pods',
    ]);
  });
});
