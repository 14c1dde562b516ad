import { describe, expect, test } from '@jest/globals';
import type { HostResponse } from '../../../runtime/agent/hosts/bottlerocket/calls.ts';
import { rig } from './rig.ts';

const MISSING = 'Unable to read data store: Live datastore missing';
const KEYLESS = 'Required key not available (os error 126)';
const CHANGE = { version_lock: '1.37.0', ignore_waves: true };

/** One call of the driver to a host that answers one of its requests so, each time. @returns how it ended, and the requests */
async function asked(call: 'read' | 'commit' | 'apply', request: string, answer: HostResponse) {
  const { driver, finish, transport } = rig();
  const requests: string[] = [];
  const plain = transport.request.bind(transport);
  transport.request = async (one) => {
    requests.push(`${one.method} ${one.path}`);
    return requests.at(-1)?.startsWith(request) ? answer : plain(one);
  };
  const work = call === 'read' ? driver.lock.read() : driver.lock[call](CHANGE);
  const end = await finish(
    work.then(
      () => 'done',
      (error: Error & { readonly reason?: string }) => error.reason ?? error.name,
    ),
  );
  return { end, requests };
}

describe('the settings of a host', () => {
  test('are changed by a transaction of our own, begun anew, and applied by their keys alone', async () => {
    const { requests } = await asked('commit', 'none', { status: 0, body: '' });
    expect(requests).toEqual(['DELETE /tx?tx=brupop', 'PATCH /settings?tx=brupop', 'POST /tx/commit?tx=brupop']);
    const applied = await asked('apply', 'none', { status: 0, body: '' });
    expect(applied.requests).toEqual([
      'POST /tx/apply?keys=settings.updates.version-lock,settings.updates.ignore-waves',
    ]);
  });

  test.each([
    ['read', 'GET /settings', 500, MISSING, 'Lockdown'],
    ['read', 'GET /settings', 200, '{}', 'NoSettings'],
    // One of them unset: the host renders neither.
    ['read', 'GET /settings', 200, '{"updates":{"version-lock":"latest"}}', 'NoSettings'],
    ['commit', 'PATCH', 500, KEYLESS, 'Lockdown'],
    ['commit', 'PATCH', 400, 'Json deserialize error: unknown field `updates`', 'NoSettings'],
    ['commit', 'POST /tx/commit', 500, KEYLESS, 'Lockdown'],
    // Images that know no such call.
    ['commit', 'DELETE', 404, '', 'done'],
    ['apply', 'POST /tx/apply', 204, 'null', 'done'],
  ] as const)('%s: %s answers %d %s: %s, at once', async (call, request, status, body, end) => {
    const seen = await asked(call, request, { status, body });
    expect(seen.end).toBe(end);
    expect(seen.requests.filter((one) => one.startsWith(request)).length).toBeLessThanOrEqual(1);
  });

  test.each([
    ['read', 'GET /settings', 200, 'no JSON'],
    ['read', 'GET /settings', 404, ''],
    ['commit', 'PATCH', 500, 'disk full'],
    // Somebody else has committed or dropped it.
    ['commit', 'POST /tx/commit', 422, 'Tried to commit with no pending changes'],
    ['apply', 'POST /tx/apply', 500, 'Unable to start config applier'],
  ] as const)(
    '%s: %s answers %d %s: asked again, from the beginning, for a minute',
    async (call, request, status, body) => {
      const { end, requests } = await asked(call, request, { status, body });
      expect(end).toBe('HostProtocolError');
      const begun = requests.filter((one) => one === requests[0]).length;
      expect([begun > 10, requests.filter((one) => one.startsWith(request)).length]).toEqual([true, begun]);
    },
  );
});
