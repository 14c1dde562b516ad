import type { Answer } from '../../../runtime/api/k3os/answers.ts';
import { keyOf } from '../../../runtime/api/k3os/answers.ts';
import { type Channel, readChannel } from '../../../runtime/api/k3os/channel.ts';
import type { ChannelObject } from '../../../runtime/api/k3os/model.ts';
import type { ChannelNode, Situation } from '../../../runtime/api/k3os/status.ts';

/** Builders of what is decided on. */
export const NOW = Date.parse('2026-01-10T12:00:00Z');
export const REPOSITORY = 'rancher/k3os';
export const URL = `github-releases://${REPOSITORY}`;

export function channel(
  spec: ChannelObject['spec'] = {},
  more: Partial<ChannelObject> & { name?: string } = {},
): Channel {
  const { name = 'github-releases', ...object } = more;
  const metadata = { name, namespace: 'k3os-system', uid: `uid-${name}`, resourceVersion: '1' };
  return readChannel({ metadata, spec: spec && { concurrency: 1, url: URL, version: 'v0.12.0', ...spec }, ...object });
}

export const node = (name: string, more: Partial<ChannelNode> = {}): ChannelNode => ({
  name,
  version: '0.11.0',
  ready: true,
  updating: false,
  ...more,
});

export function answers(entries: Readonly<Record<string, Answer>>): ReadonlyMap<string, Answer> {
  return new Map(
    Object.entries(entries).map(([tag, answer]) => [
      keyOf({ repository: REPOSITORY, tag: tag === 'latest' ? undefined : tag }),
      answer,
    ]),
  );
}

export const found = (tag: string): Answer => ({ kind: 'found', tag });
export const failed = (retryAt = NOW + 5000): Answer => ({ kind: 'failed', message: 'nobody answers', retryAt });
export const missing = (retryAt = NOW + 900_000): Answer => ({ kind: 'missing', message: 'there is none', retryAt });

export const situation = (more: Partial<Situation> = {}): Situation => ({
  channels: [channel()],
  answers: new Map(),
  nodes: [node('node-1'), node('node-2')],
  now: NOW,
  ...more,
});
