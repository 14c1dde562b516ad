import * as z from 'zod';
import { checkTemplate, silencerFields, targetFields } from '../../runtime/api/notifications/config.ts';
import { caBundle } from './ca-bundle.ts';
import { afterOwnChecks, AMONG_ITEMS, objectName, portFrom } from './fields.ts';

/** Who is told what becomes of rollouts and of nodes, besides those who read Events. */
export interface NotificationProps {
  /** HTTP servers that are told. @default none */
  readonly targets?: readonly NotificationTargetProps[];
  /** Alertmanagers that silence the alerts of a node while it is drained, rebooted and soaks. @default none */
  readonly silences?: readonly SilencerProps[];
}

/** One HTTP server that is told. */
export interface NotificationTargetProps {
  /** Of the target in metrics and in the log: lower case letters, digits and "-". */
  readonly name: string;
  /**
   * Name of a Secret in the operator's namespace. Its key `url` has the address; `headers`, where there is one, a header on each line; `proxy` a proxy with
   * credentials; `token` what `{{token}}` stands for in a template.
   */
  readonly secret: string;
  /** CloudEvents 1.0 in JSON (structured mode), a message for an incoming webhook of Slack, plain text, or JSON by a template. */
  readonly format: 'cloudevents' | 'slack' | 'text' | 'json';
  /**
   * Of plain text and of JSON: `{{kind}}`, `{{message}}` and other fields are replaced; in JSON, where they stand within texts, escaped.
   * @default [{{cluster}}] {{kind}} {{subject}}: {{message}}; JSON has none
   */
  readonly template?: string | undefined;
  /** What it is told. @default everything */
  readonly kinds?: readonly NotificationKind[] | undefined;
  /** Names of the policies of which it is told. @default all, and what no policy rules */
  readonly policies?: readonly string[] | undefined;
  /** A proxy without credentials, e.g. `http://proxy.example.com:3128`. @default none */
  readonly proxy?: string | undefined;
  /** The only authorities that are trusted, PEM. @default those of Node */
  readonly caBundle?: string | undefined;
  /** Port of the address, for the network policy. @default 443 */
  readonly port?: number | undefined;
}

/** An Alertmanager (API v2) that silences alerts of nodes around their reboots. */
export interface SilencerProps {
  /** In metrics and in the log: lower case letters, digits and "-". */
  readonly name: string;
  /** Name of a Secret in the operator's namespace, with keys as those of a target. `url` is where Alertmanager is, without `/api/v2`. */
  readonly secret: string;
  /** Labels of the alerts that are meant, all of which have to fit. @default [{ name: 'node', value: '{{node}}' }] */
  readonly matchers?: readonly SilenceMatcher[] | undefined;
  /** After so many seconds a silence ends by itself, whatever becomes of the node. @default 3600 */
  readonly durationInSec?: number | undefined;
  /** A proxy without credentials. @default none */
  readonly proxy?: string | undefined;
  /** The only authorities that are trusted, PEM. @default those of Node */
  readonly caBundle?: string | undefined;
  /** Port of the address, for the network policy. @default 9093 */
  readonly port?: number | undefined;
}

/** A label of alerts. */
export interface SilenceMatcher {
  readonly name: string;
  /** `{{node}}` is the name of the node; in a regular expression it matches nothing else. */
  readonly value: string;
  /** Whether the value is a regular expression. @default false */
  readonly isRegex?: boolean | undefined;
}

// Spelled out, because published types show no more than their own text.
/** What a target can be told. */
export type NotificationKind =
  | 'RolloutStarted'
  | 'RolloutComplete'
  | 'RolloutHalted'
  | 'RolloutResumed'
  | 'UpdateFailed'
  | 'NotReturned'
  | 'SoakFailed'
  | 'WorkloadsWorse'
  | 'ProgressDeadlineExceeded'
  | 'Reverted'
  | 'Unstable'
  | 'AgentMissing'
  | 'TooManyUnhealthy'
  | 'ControlPlaneAway'
  | 'OtherOperator'
  | 'NotAccepted'
  | 'ReleasePublished';

/** The props, complete. */
export interface NotificationSettings {
  readonly targets: readonly NotificationTargetSettings[];
  readonly silences: readonly SilencerSettings[];
}

/** A target, complete. */
export type NotificationTargetSettings = NotificationTargetProps & { readonly port: number };

/** An Alertmanager, complete. */
export type SilencerSettings = SilencerProps & {
  readonly matchers: readonly SilenceMatcher[];
  readonly durationInSec: number;
  readonly port: number;
};

const target = z
  .strictObject({
    ...targetFields,
    secret: objectName,
    caBundle: caBundle.optional(),
    port: portFrom(1).default(443),
  } satisfies Record<keyof NotificationTargetProps, z.ZodType>)
  .superRefine(checkTemplate, afterOwnChecks('format', 'template'));

const silencer = z.strictObject({
  ...silencerFields,
  secret: objectName,
  caBundle: caBundle.optional(),
  port: portFrom(1).default(9093),
} satisfies Record<keyof SilencerProps, z.ZodType>);

function eachNamedOnce(given: readonly unknown[], context: z.RefinementCtx): void {
  const names = given.map((one) => (one as { readonly name?: unknown } | null)?.name);
  for (const [index, name] of names.entries()) {
    if (name === undefined || names.indexOf(name) === index) continue;
    context.addIssue({ code: 'custom', path: [index, 'name'], message: 'expected a name that no other has' });
  }
}

/** @internal */
export const notificationProps = z.strictObject({
  targets: z.array(target).readonly().superRefine(eachNamedOnce, AMONG_ITEMS).default([]),
  silences: z.array(silencer).readonly().superRefine(eachNamedOnce, AMONG_ITEMS).default([]),
} satisfies Record<keyof NotificationProps, z.ZodType>);
