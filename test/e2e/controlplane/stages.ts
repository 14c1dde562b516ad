import { TERMINATION_ANNOTATION } from '../../../lab/sim/kubernetes/kubelet/node-pods.ts';
import { booted, lost } from '../../../lab/sim/kubernetes/kubelet/node-status.ts';

/** Label of a Node whose machine exists on paper only, and that kwok is the kubelet of: `on` or `off`, as the machine is. */
export const POWER_LABEL = 'paper.brupop/power';
/** What the machine has booted. */
export const BOOT_ID_ANNOTATION = 'paper.brupop/boot-id';
export const OS_IMAGE_ANNOTATION = 'paper.brupop/os-image';
/** Of a Pod on paper, whatever it says: its containers crash again and again, for as long as it is there. */
export const CRASHES_ANNOTATION = 'paper.brupop/crashes';

/** How often a kubelet writes its status though nothing has changed: five minutes in life, ten times faster here. */
const HEARTBEAT_MS = 30_000;
const POD_START_MS = 200;

/** Holds for a query (jq) on the object that answers true. */
interface Condition {
  readonly jq: { readonly key: string; readonly operator: 'In'; readonly values: readonly ['true'] };
}

interface StageParts {
  readonly kind: 'Node' | 'Pod';
  readonly name: string;
  /** Queries that must all answer true. */
  readonly when: readonly string[];
  readonly delay?: object;
  readonly steps: readonly object[];
}

/** @see https://kwok.sigs.k8s.io/docs/user/stages-configuration/ */
function stage({ kind, name, when, delay, steps }: StageParts): object {
  return {
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'Stage',
    metadata: { name },
    spec: {
      resourceRef: { apiGroup: 'v1', kind },
      selector: { matchExpressions: when.map(isTrue) },
      ...(delay && { delay }),
      steps,
    },
  };
}

function isTrue(key: string): Condition {
  return { jq: { key, operator: 'In', values: ['true'] } };
}

/** A step that brings the object's status to what a Go template of YAML makes of it. */
function writes(template: string): object {
  return { patch: { subresource: 'status', root: 'status', template } };
}

const note = (name: string): string => `.metadata.annotations["${name}"]`;
const isReady = '([.status.conditions[]? | select(.type == "Ready") | .status] == ["True"])';
const power = (state: 'on' | 'off'): string => `.metadata.labels["${POWER_LABEL}"] == "${state}"`;
const tellsOfItsBoot = `(${isReady} and .status.nodeInfo.bootID == ${note(BOOT_ID_ANNOTATION)})`;

/** In a template that is JSON, where quotes would be escaped. */
const value = (name: string): string => `{{ index .metadata.annotations \`${name}\` }}`;
const NOW = '{{ Now }}';

const NODE_STAGES = [
  stage({
    kind: 'Node',
    name: 'node-has-booted',
    when: [power('on'), `${tellsOfItsBoot} | not`],
    steps: [
      writes(
        JSON.stringify(
          booted(
            '{{ .metadata.name }}',
            { osImage: value(OS_IMAGE_ANNOTATION), bootID: value(BOOT_ID_ANNOTATION) },
            NOW,
          ),
        ),
      ),
    ],
  }),
  stage({
    kind: 'Node',
    name: 'node-is-alive',
    when: [power('on'), tellsOfItsBoot],
    delay: { durationMilliseconds: HEARTBEAT_MS },
    steps: [writes(JSON.stringify({ conditions: [{ type: 'Ready', lastHeartbeatTime: NOW }] }))],
  }),
  stage({
    kind: 'Node',
    name: 'node-goes-down',
    when: [power('off')],
    steps: [
      // Nodes are managed by this label: from here on nobody renews its lease, and nothing happens to its pods.
      { patch: { template: JSON.stringify({ metadata: { labels: { [POWER_LABEL]: null } } }) } },
      writes(JSON.stringify(lost(NOW))),
    ],
  }),
];

/** The operator's own pods have processes behind them, and whoever runs those tells of them. */
const isOnPaper = '[.spec.containers[].command[]? | startswith("/opt/brupop/")] | any | not';

/** A pod's containers run, once more where they ran before. */
const RUNNING = `
{{ $now := Now }}
{{ $before := .status.containerStatuses }}
phase: Running
startTime: {{ or .status.startTime $now | Quote }}
conditions:
{{ range $type := list "Initialized" "ContainersReady" "Ready" }}
- { type: {{ $type }}, status: "True", lastTransitionTime: {{ $now | Quote }} }
{{ end }}
containerStatuses:
{{ range $index, $container := .spec.containers }}
- name: {{ $container.name | Quote }}
  image: {{ $container.image | Quote }}
  imageID: ""
  ready: true
  started: true
  restartCount: {{ if $before }}{{ add1 (index $before $index).restartCount }}{{ else }}0{{ end }}
  state: { running: { startedAt: {{ $now | Quote }} } }
{{ end }}
`;

/** They have crashed often enough to be told from what waits for another. */
const CRASHING = `
{{ $now := Now }}
conditions:
{{ range $type := list "ContainersReady" "Ready" }}
- { type: {{ $type }}, status: "False", lastTransitionTime: {{ $now | Quote }} }
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: false
  started: false
  restartCount: 5
  state: { waiting: { reason: CrashLoopBackOff } }
{{ end }}
`;

/**
 * When the containers of a pod that was deleted have ended: never begun, at once; annotated, that many seconds later; else at the very
 * end of the pod's grace.
 */
const ENDED = `
(.metadata.annotations // {})["${TERMINATION_ANNOTATION}"] as $own
| if .status.phase != "Running" then "0s"
  elif $own == null then .metadata.deletionTimestamp
  else "\\([($own | tonumber), .metadata.deletionGracePeriodSeconds] | min)s"
  end`;

const IS_THERE = [isOnPaper, '.metadata.deletionTimestamp == null'];
const crashes = `${note(CRASHES_ANNOTATION)} != null`;
const tellsOfCrashes = '([.status.containerStatuses[]?.state.waiting.reason] | any(. == "CrashLoopBackOff"))';

const POD_STAGES = [
  stage({
    kind: 'Pod',
    name: 'pod-starts',
    when: [...IS_THERE, '.status.phase | IN("Pending", "Running")', `${isReady} | not`, `${crashes} | not`],
    delay: { durationMilliseconds: POD_START_MS },
    steps: [writes(RUNNING)],
  }),
  stage({
    kind: 'Pod',
    name: 'pod-crashes',
    when: [...IS_THERE, '.status.phase == "Running"', crashes, `${tellsOfCrashes} | not`],
    steps: [writes(CRASHING)],
  }),
  stage({
    kind: 'Pod',
    name: 'pod-ends',
    // With no grace left it is as good as gone: whatever comes under its name is another pod.
    when: [isOnPaper, '.metadata.deletionGracePeriodSeconds > 0'],
    delay: { durationFrom: { jq: { expression: ENDED } } },
    steps: [{ delete: true }],
  }),
];

/** What kwok does as the kubelet of nodes on paper, as the text of its configuration file. */
export const STAGES = [...NODE_STAGES, ...POD_STAGES].map((object) => JSON.stringify(object)).join('\n---\n');
