import { jsonObject } from '../../lib/json.ts';

/** Silences of an Alertmanager (API v2) around the reboot of a node. @see https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml */

/** A label that alerts must have. */
interface Matcher {
  /** Name of the label. */
  readonly name: string;
  /** `{{node}}` is replaced by the node's name. */
  readonly value: string;
  /** @default false */
  readonly isRegex?: boolean | undefined;
}

const NODE = /\{\{\s*node\s*\}\}/g;

/** Whether the value contains `{{node}}`. */
export const namesNode = (value: string): boolean => value.search(NODE) >= 0;

interface Silence {
  readonly node: string;
  readonly matchers: readonly Matcher[];
  readonly durationMs: number;
}

/** The body of `POST /api/v2/silences`. @param now milliseconds since the Unix epoch */
export function silenceBody({ node, matchers, durationMs }: Silence, now: number): string {
  return JSON.stringify({
    matchers: matchers.map(({ name, value, isRegex = false }) => {
      const text = value.replaceAll(NODE, () => (isRegex ? literal(node) : node));
      return { name, value: text, isRegex, isEqual: true };
    }),
    // Alertmanager takes a time in the past as now. With a clock that is ahead of Alertmanager's, the silence would begin too late.
    startsAt: time(now - durationMs),
    endsAt: time(now + durationMs),
    createdBy: 'brupop',
    comment: `node ${node} is being updated`,
  });
}

const time = (instant: number): string => new Date(instant).toISOString();

/** A name as a regular expression that matches nothing else. */
const literal = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, String.raw`\$&`);

/** The form of a silence's id. The id becomes part of an address. */
export const SILENCE_ID = /^[\w-]{1,100}$/;

/** The id of a new silence in Alertmanager's answer; undefined where it has none. */
export function silenceIdIn(body: string): string | undefined {
  const { silenceID: id } = jsonObject(body) as { silenceID?: unknown };
  return typeof id === 'string' && SILENCE_ID.test(id) ? id : undefined;
}
