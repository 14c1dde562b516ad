import { at, joined, listed, placed } from './edits.ts';
import type { Mapping, Tree } from './template.ts';

/** What the controller connects to at any address. @see NetworkPolicies */

/** The port of an address: the one that it names, or that of its scheme. */
export const PORT_OF = 'brupop.portOf';
/** A rule of a network policy for these ports; none without any. */
export const TO_PORTS = 'brupop.toPorts';

export const EGRESS_HELPERS: Readonly<Record<string, string>> = {
  [PORT_OF]:
    '{{ regexFind "[0-9]+$" (regexFind "^https?://[^/]*:[0-9]+(/|$)" . | trimSuffix "/") | default (ternary 80 443 (hasPrefix "http:" .)) }}',
  [TO_PORTS]:
    '{{- $ports := list }}{{ range . }}{{ $ports = append $ports (printf "%05d" (atoi (toString .))) }}{{ end }}' +
    '{{ $distinct := list }}{{ range $ports | uniq | sortAlpha }}' +
    '{{ $distinct = append $distinct (dict "protocol" "TCP" "port" (atoi .)) }}{{ end }}' +
    '{{ if $distinct }}{{ list (dict "ports" $distinct) | toJson }}{{ else }}[]{{ end }}',
};

/** Lets the controller connect to what a named template makes of a value. */
export function withEgress(policy: Mapping, name: string, from: Tree): Mapping {
  if (at(policy, 'metadata/name') !== 'brupop-controller') return policy;
  return placed(policy, 'spec/egress', (own = []) => joined(own, listed(name, from)));
}
