import { expect, test } from '@jest/globals';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { KubeTransport, WatchEvent } from '../../../runtime/kube/transport.ts';
import { settle, VirtualClock } from '../../../sim/clock.ts';
import { Bell } from '../../../sim/kubernetes/bell.ts';
import { Mirror } from '../../../sim/kubernetes/mirror.ts';

const object = (name: string, resourceVersion: string): KubeObject => ({
  metadata: { name, uid: name, resourceVersion },
});

/** An API that lists `items` and whose watch says what it is told to, when it is told to. */
class Script implements KubeTransport {
  readonly #events: WatchEvent[] = [];
  readonly #bell = new Bell();
  readonly #items: readonly KubeObject[];

  constructor(items: readonly KubeObject[]) {
    this.#items = items;
  }

  request(): Promise<unknown> {
    return Promise.resolve({ metadata: { resourceVersion: '10' }, items: this.#items });
  }

  async *watch(): AsyncGenerator<WatchEvent> {
    for (;;) {
      await this.#bell.wait();
      yield* this.#events.splice(0);
    }
  }

  async say(type: WatchEvent['type'], said: KubeObject): Promise<void> {
    this.#events.push({ type, object: said });
    this.#bell.ring();
    await settle();
  }
}

async function mirrored(
  ...items: readonly KubeObject[]
): Promise<{ readonly api: Script; readonly mirror: Mirror<KubeObject> }> {
  const api = new Script(items);
  const mirror = new Mirror({ transport: api, path: '/api/v1/nodes', clock: new VirtualClock(), random: () => 0.5 });
  void mirror.run(() => undefined, new AbortController().signal);
  await settle();
  return { api, mirror };
}

const versions = (mirror: Mirror<KubeObject>): readonly string[] =>
  mirror.items().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);

test('the answer to a write counts before the watch shows it, and older news does not take it back', async () => {
  const { api, mirror } = await mirrored(object('a', '5'));
  mirror.observe(object('a', '12'));
  mirror.observe(object('b', '13'));
  await api.say('MODIFIED', object('a', '11'));
  expect(versions(mirror)).toEqual(['a@12', 'b@13']);
  await api.say('DELETED', object('b', '14'));
  expect(versions(mirror)).toEqual(['a@12']);
});

test('an answer that comes after the watch has passed it changes nothing', async () => {
  const { api, mirror } = await mirrored(object('a', '5'));
  await api.say('DELETED', object('a', '15'));
  mirror.observe(object('a', '12'));
  expect(versions(mirror)).toEqual([]);
});
