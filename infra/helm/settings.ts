import { PUBLIC } from '../../runtime/api/waves/repositories.ts';
import { KEY_SIZES } from '../certificates.ts';
import type { ManagedCertificateSettings } from '../props/certificates.ts';
import type { Settings } from '../props/brupop.ts';
import type { CronProps, ScheduleSettings } from '../props/schedule.ts';
import { settingsOf } from '../props/settings.ts';
import { call, itemMark, mark, Operand } from './template.ts';
import { type Entries, isShown, VALUES } from './values.ts';

/** The variable with all values, complete and without nulls: the first line of each template. */
export const COMPLETED = '{{- $values := include "brupop.values" . | fromJson }}\n';

/** A value that has a default. */
export const value = (path: string): Operand => new Operand(`$values.${path}`);

/** A value without a default. @param path of two parts or more */
export function optional(path: string, fallback: Parameters<typeof call>[1]): Operand {
  const [first = '', ...rest] = path.split('.');
  return call('dig', ...rest, fallback, value(first));
}

/** Lifetimes are whole hours. */
export const hours = (lifetime: Operand): Operand => call('atoi', call('regexFind', '^[0-9]+', lifetime));
export const RENEW_BEFORE_HOURS = hours(optional('certificates.renewBefore', '720h'));

const isSet = (operand: Operand): Operand => call('not', call('empty', operand));

/**
 * Settings with a mark in place of each scalar, and each list of scalars, that is a value of the chart. The constructs carry the marks to
 * all their places. The types are those of the values: the constructs do not calculate with them.
 */
export function markedSettings(): Settings {
  const settings = settingsOf({});
  return {
    ...(marked(VALUES, settings) as unknown as Settings),
    createNamespace: false,
    namespace: mark('.Release.Namespace'),
    instance: mark('.Release.Name'),
    certificates: managedCertificates('self-signed'),
  };
}

function marked(entries: Entries, settings: object, parents: readonly string[] = []): Record<string, unknown> {
  const known = settings as Record<string, unknown>;
  const own = Object.entries(entries).map(([name, entry]) => {
    const path = [...parents, name];
    if (isShown(entry)) return [name, markOf(path.join('.'), known[name])];
    return [name, marked(entry, known[name] ?? {}, path)];
  });
  return { ...known, ...Object.fromEntries(own) };
}

function markOf(path: string, initial: unknown): unknown {
  if (path === 'controller.schedule') return schedule();
  if (path === 'repositories') {
    return mark(call('ternary', call('toJson', value(path)), PUBLIC, call('kindIs', 'slice', value(path))).text);
  }
  if (path === 'image.registry') return mark(call('default', value(path), value('global.imageRegistry')).text);
  if (NOTIFIED.test(path)) return [notified(path)];
  if (path === 'image.pullSecrets') return [itemMark(path, PULL_SECRETS.text)];
  if (LOG_FILTER.test(path)) return mark(optional(path, value('logging.filter')).text);
  if (SCALAR_LISTS.has(path)) return [itemMark(path, value(path).text)];
  return ['string', 'number', 'boolean'].includes(typeof initial) ? mark(value(path).text) : initial;
}

/** What the volume has of a target; the ConfigMap has the rest, and is a template of its own. */
const notified = (path: string): object =>
  Object.fromEntries(['name', 'secret'].map((field) => [field, itemMark(path, value(path).text, field)]));

const NOTIFIED = /^notifications\./;
const LOG_FILTER = /^\w+\.logFilter$/;
const SCALAR_LISTS = new Set(['networkPolicies.kubernetesApiPorts']);
const PULL_SECRETS = new Operand('(include "brupop.pullSecrets" $values | fromJsonArray)');

/** Marks for optional values below `path`. */
function optionalMarks(path: string, defaults: object): Record<string, string> {
  const fields = Object.entries(defaults as Record<string, string | number>);
  return Object.fromEntries(fields.map(([name, fallback]) => [name, mark(optional(`${path}.${name}`, fallback).text)]));
}

const SCHEDULE = 'controller.schedule';

/** A field of the schedule of one kind. A layer of values may have left it behind under another one. */
export function ofSchedule(kind: ScheduleSettings['kind'], field: string, fallback: string): Operand {
  const isOfKind = call('eq', optional(`${SCHEDULE}.kind`, ''), kind);
  return call('ternary', optional(`${SCHEDULE}.${field}`, fallback), fallback, isOfKind);
}

/** Marks for a schedule. Under a daily window the cron expression keeps its default. */
function schedule(): ScheduleSettings {
  const { expression, timeZone, windowFit } = settingsOf({}).controller.schedule as Required<CronProps>;
  return {
    kind: 'cron',
    expression: mark(ofSchedule('cron', 'expression', expression).text),
    timeZone: mark(ofSchedule('cron', 'timeZone', timeZone).text),
    windowFit: mark(optional(`${SCHEDULE}.windowFit`, windowFit).text),
  } as unknown as ScheduleSettings;
}

/** Certificates made by cert-manager. @param kind of the values that select them */
export function managedCertificates(kind: ManagedCertificateSettings['kind']): ManagedCertificateSettings {
  const { certificates } = settingsOf({ certificates: kind === 'issuer' ? { kind, name: 'x' } : { kind } });
  const lifetimes = { duration: '', renewBefore: '', ...('caDuration' in certificates && { caDuration: '' }) };
  const inHours = Object.keys(lifetimes).map((name) => {
    const fallback = (certificates as unknown as Record<string, string>)[name] ?? '';
    return [name, mark(call('trimSuffix', '0m0s', optional(`certificates.${name}`, fallback)).text)] as const;
  });
  return {
    ...optionalMarks('certificates', { ...certificates, dnsNames: '', usages: '' }),
    ...Object.fromEntries(inHours),
    // A transform of the part fills these in, because the constructs look them up.
    usages: [],
    keyAlgorithm: 'RSA',
    keySize: mark(optional('certificates.keySize', KEY_SIZE).text),
    dnsNames: [itemMark(DNS_NAMES, optional(DNS_NAMES, []).text)],
    kind,
  } as unknown as ManagedCertificateSettings;
}

const DNS_NAMES = 'certificates.dnsNames';
const IS_ECDSA = call('eq', optional('certificates.keyAlgorithm', 'RSA'), 'ECDSA');
const KEY_SIZE = call('ternary', KEY_SIZES.ECDSA, KEY_SIZES.RSA, IS_ECDSA);

export const CERTIFICATES_KIND = optional('certificates.kind', 'self-signed');

/** Whether anybody is notified. */
export const NOTIFIES = isSet(call('concat', value('notifications.targets'), value('notifications.silences')));

/** A choice that the constructs make by a setting. The chart makes it by a value. */
export interface Decision {
  readonly condition: Operand;
  readonly yes: (settings: Settings) => Settings;
  readonly no: (settings: Settings) => Settings;
}

const same = (settings: Settings): Settings => settings;

const PROMETHEUS = 'controller.prometheusUrl';
const CIDRS = 'networkPolicies.kubernetesApiCidrs';
const READERS = 'networkPolicies.metricsNamespace';
const SERVER_SECRET = optional('certificates.serverSecret', '');

export const DECISIONS = {
  readyMadeCertificates: {
    condition: call('eq', CERTIFICATES_KIND, 'secret'),
    yes: (settings) => ({
      ...settings,
      certificates: {
        kind: 'secret',
        serverSecret: mark(SERVER_SECRET.text),
        caSecret: mark(optional('certificates.caSecret', SERVER_SECRET).text),
        caBundle: 'a part of its own fills it in',
      },
    }),
    no: same,
  },
  clientCertificates: {
    condition: value('apiserver.requireClientCertificate'),
    yes: (settings) => ({ ...settings, apiserver: { ...settings.apiserver, requireClientCertificate: true } }),
    no: (settings) => ({ ...settings, apiserver: { ...settings.apiserver, requireClientCertificate: false } }),
  },
  wildcards: {
    condition: optional('certificates.wildcards', true),
    yes: (settings) => withWildcards(settings, true),
    no: (settings) => withWildcards(settings, false),
  },
  digest: {
    condition: isSet(optional('image.digest', '')),
    yes: (settings) => ({
      ...settings,
      image: { ...settings.image, digest: mark(optional('image.digest', '').text) },
    }),
    no: same,
  },
  nodeAnnotations: {
    condition: value('controller.nodeAnnotations'),
    yes: (settings) => ({ ...settings, controller: { ...settings.controller, nodeAnnotations: true } }),
    no: (settings) => ({ ...settings, controller: { ...settings.controller, nodeAnnotations: false } }),
  },
  nodeLifecycleConditions: {
    condition: call('ne', value('controller.nodeLifecycleConditions'), 'none'),
    yes: same,
    no: (settings) => ({ ...settings, controller: { ...settings.controller, nodeLifecycleConditions: 'none' } }),
  },
  checkJobs: {
    condition: value('controller.checkJobs'),
    yes: (settings) => ({ ...settings, controller: { ...settings.controller, checkJobs: true } }),
    no: (settings) => ({ ...settings, controller: { ...settings.controller, checkJobs: false } }),
  },
  prometheus: {
    condition: isSet(optional(PROMETHEUS, '')),
    yes: (settings) => ({
      ...settings,
      controller: { ...settings.controller, prometheusUrl: mark(optional(PROMETHEUS, '').text) },
    }),
    no: same,
  },
  interfaceV1: {
    condition: value('agent.interfaceV1'),
    yes: (settings) => ({ ...settings, agent: { ...settings.agent, interfaceV1: true } }),
    no: (settings) => ({ ...settings, agent: { ...settings.agent, interfaceV1: false } }),
  },
  notifies: {
    condition: NOTIFIES,
    yes: same,
    no: (settings) => ({ ...settings, notifications: { targets: [], silences: [] } }),
  },
  scrapePods: {
    condition: value('scrapePods'),
    yes: (settings) => ({ ...settings, scrapePods: true }),
    no: (settings) => ({ ...settings, scrapePods: false }),
  },
  scrapeServices: {
    condition: value('scrapeServices'),
    yes: same,
    no: (settings) => ({ ...settings, scrapeServices: false }),
  },
  knownCallers: {
    condition: isSet(optional(CIDRS, [])),
    yes: (settings) => withPolicies(settings, { kubernetesApiCidrs: [itemMark(CIDRS, optional(CIDRS, []).text)] }),
    no: same,
  },
  knownReaders: {
    condition: isSet(optional(READERS, '')),
    yes: (settings) => withPolicies(settings, { metricsNamespace: mark(optional(READERS, '').text) }),
    no: same,
  },
} satisfies Record<string, Decision>;

function withWildcards(settings: Settings, wildcards: boolean): Settings {
  return { ...settings, certificates: { ...settings.certificates, wildcards } as ManagedCertificateSettings };
}

function withPolicies(settings: Settings, policies: Partial<Settings['networkPolicies']>): Settings {
  return { ...settings, networkPolicies: { ...settings.networkPolicies, ...policies } };
}
