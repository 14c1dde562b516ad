import { FIELDS } from '../../runtime/api/notifications/template.ts';
import type { NotificationProps } from '../props/notifications.ts';
import { settingsOf } from '../props/settings.ts';
import { PORT_OF, TO_PORTS, withEgress } from './egress.ts';
import { value } from './settings.ts';
import type { Mapping } from './template.ts';

/** Named templates of the values below `notifications`: what the constructs calculate with each target and each Alertmanager. */

/** The text of the ConfigMap. @see addNotifications */
export const NOTIFICATIONS = 'brupop.notifications';
/** A rule of a network policy, or none. @see NetworkPolicies */
const NOTIFIED_EGRESS = 'brupop.notifiedEgress';

const [SILENCER] = settingsOf({ notifications: { silences: [{ name: 'any', secret: 'any' }] } }).notifications.silences;
const [TARGET] = settingsOf({ notifications: { targets: [{ name: 'any', secret: 'any', format: 'text' }] } })
  .notifications.targets;
const SILENCED = { matchers: SILENCER?.matchers, durationInSec: SILENCER?.durationInSec };

const each = (list: string, body: string): string => `{{ range .notifications.${list} }}${body}{{ end }}`;
const entries = (variable: string, list: string, defaults: object): string =>
  `{{- ${variable} := list }}` +
  each(
    list,
    `{{ $one := merge (omit . "secret" "port" "caBundle") (fromJson ${JSON.stringify(JSON.stringify(defaults))}) }}` +
      `{{ with .caBundle }}{{ $_ := set $one "ca" . }}{{ end }}{{ ${variable} = append ${variable} $one }}`,
  );

const ports = (list: string, fallback: number | undefined): string =>
  `{{ range .${list} }}{{ $port := dig "port" ${fallback} . }}` +
  `{{ with .proxy }}{{ $port = include "${PORT_OF}" . }}{{ end }}{{ $ports = append $ports $port }}{{ end }}`;

export const NOTIFICATION_HELPERS: Readonly<Record<string, string>> = {
  [NOTIFICATIONS]:
    entries('$targets', 'targets', {}) +
    entries('$silences', 'silences', SILENCED) +
    '{{ dict "cluster" .cluster "targets" $targets "silences" $silences | toPrettyJson }}',
  [NOTIFIED_EGRESS]:
    `{{- $ports := list }}${ports('targets', TARGET?.port)}${ports('silences', SILENCER?.port)}` +
    `{{ include "${TO_PORTS}" $ports }}`,
};

const quoted = (text: string): string => JSON.stringify(text);
const PLACE = String.raw`\{\{[^{}]*\}\}`;
const NODE = String.raw`\{\{\s*node\s*\}\}`;
const KNOWN = String.raw`\{\{\s*(${FIELDS.join('|')})\s*\}\}`;
/** A template with a text in place of each field that there is. */
const FILLED = `(regexReplaceAll ${quoted(KNOWN)} (default "" .template) "x")`;

/** What the props refuse and no schema does: where that is, when, and what is expected. @see targetFields */
const BOTH = [
  ['name', 'has .name $names', 'a name that no other has'],
  [
    'proxy',
    `and .proxy (not (regexMatch ${quoted(String.raw`^https?://[^\s/?#@]+/?$`)} (default "" .proxy)))`,
    'a proxy such as http://proxy.example.com:3128; credentials belong into the Secret',
  ],
] as const;
const FAULTS: Readonly<
  Record<keyof NotificationProps, readonly (readonly [field: string, when: string, expected: string])[]>
> = {
  targets: [
    ...BOTH,
    ['template', `regexMatch ${quoted(PLACE)} ${FILLED}`, `only the fields ${FIELDS.join(', ')}`],
    [
      'template',
      'and .template (has .format (list "cloudevents" "slack"))',
      'nothing: only the formats text and json have a template',
    ],
    [
      'template',
      `and (eq .format "json") (or (not .template) (and (hasPrefix "{" (trim ${FILLED})) (hasKey (fromJson ${FILLED}) "Error")))`,
      'JSON, with fields in its texts alone',
    ],
  ],
  silences: [
    ...BOTH,
    [
      'matchers',
      `and .matchers (not (regexMatch ${quoted(NODE)} (toJson .matchers)))`,
      'one with the field node: others would silence every node',
    ],
  ],
};

/** A template that makes nothing, and fails where a target or an Alertmanager is wrong. */
export const NOTIFICATION_FAULTS = Object.entries(FAULTS)
  .map(([part, faults]) => {
    const checks = faults.map(
      ([field, when, expected]) =>
        `{{- if ${when} }}\n{{- fail (printf "notifications.${part}.%d.${field}: expected %s" $index ${quoted(expected)}) }}\n{{- end }}\n`,
    );
    return `{{- $names := list }}\n{{- range $index, $one := $values.notifications.${part} }}\n${checks.join('')}{{- $names = append $names .name }}\n{{- end }}\n`;
  })
  .join('');

/** The controller connects to whom it notifies. */
export function withNotified(policy: Mapping): Mapping {
  return withEgress(policy, NOTIFIED_EGRESS, value('notifications'));
}
