import { type Fact, subjectOf } from './fact.ts';
import { DEFAULT_TEMPLATE, inJson, rendered } from './template.ts';

/** The formats of a message. */
export const FORMATS = ['cloudevents', 'slack', 'text', 'json'] as const;
export type Format = (typeof FORMATS)[number];

/** The body of a request, and its Content-Type. */
export interface Content {
  readonly contentType: string;
  readonly body: string;
}

interface Writing {
  readonly format: Format;
  /** Template of the formats `text` and `json`. */
  readonly template?: string | undefined;
  /** What `{{token}}` stands for in it: a secret. */
  readonly token?: string | undefined;
  /** Name of the cluster. */
  readonly cluster: string;
}

export function contentOf(fact: Fact, { format, template = DEFAULT_TEMPLATE, cluster, token }: Writing): Content {
  if (format === 'cloudevents')
    return {
      contentType: 'application/cloudevents+json; charset=utf-8',
      body: JSON.stringify(cloudEvent(fact, cluster)),
    };
  if (format === 'slack')
    return { contentType: 'application/json; charset=utf-8', body: JSON.stringify(slackMessage(fact, cluster)) };
  const values = { ...fact, cluster, token };
  if (format === 'json')
    return { contentType: 'application/json; charset=utf-8', body: rendered(template, values, inJson) };
  return { contentType: 'text/plain; charset=utf-8', body: rendered(template, values) };
}

/**
 * CloudEvents 1.0, structured mode. `source` and `id` together are unique, and the same when a fact is sent again.
 * @see https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md
 */
function cloudEvent(fact: Fact, cluster: string): object {
  const { id, kind, time, severity, message, node, together, policy, family, version } = fact;
  const subject = subjectOf(fact);
  return {
    specversion: '1.0',
    id,
    source: `/brupop/${encodeURIComponent(cluster)}`,
    type: `aws.bottlerocket.brupop.${kind}`,
    ...(subject !== '' && { subject }),
    time,
    datacontenttype: 'application/json',
    data: {
      kind,
      severity,
      message,
      cluster,
      node,
      ...(together && { nodes: together.nodes, count: together.count }),
      policy,
      family,
      version,
    },
  };
}

const ICONS = { info: ':information_source:', warning: ':warning:' } as const;

/** For an incoming webhook. @see https://docs.slack.dev/messaging/formatting-message-text */
function slackMessage(fact: Fact, cluster: string): object {
  const { kind, severity, message } = fact;
  const where = [cluster, subjectOf(fact)].filter((part) => part !== '').join(', ');
  return { text: `${ICONS[severity]} *${kind}* (${escaped(where)}): ${escaped(message)}` };
}

/** Escapes the three characters of Slack's markup. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
