import type { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import {
  NOTIFICATIONS_CONFIG_MAP,
  NOTIFICATIONS_FILE,
  SECRET_KEYS,
  silencerFolder,
} from '../runtime/api/notifications/names.ts';
import { manifest } from './manifest.ts';
import { addObject, jsonText, namespacedMeta } from './objects.ts';
import type { PodParts } from './pods.ts';
import type { Settings } from './props/brupop.ts';
import type { NotificationTargetSettings, SilencerSettings } from './props/notifications.ts';

/** The folder with the configuration and the Secrets of targets. */
export const NOTIFICATIONS_DIR = '/etc/brupop/notifications';

const VOLUME = 'notifications';

export function notifies({ notifications }: Pick<Settings, 'notifications'>): boolean {
  return notifications.targets.length + notifications.silences.length > 0;
}

/** The ConfigMap with the props; undefined where there are none. The controller reads it again when it changes. */
export function addNotifications(scope: Construct, id: string, settings: Settings): ApiObject | undefined {
  if (!notifies(settings)) return undefined;
  const { targets, silences } = settings.notifications;
  const config = { cluster: settings.cluster, targets: targets.map(targetOf), silences: silences.map(silencerOf) };
  return addObject(
    scope,
    id,
    manifest('ConfigMap', {
      metadata: namespacedMeta(settings, { name: NOTIFICATIONS_CONFIG_MAP, component: 'controller' }),
      data: { [NOTIFICATIONS_FILE]: `${jsonText(config)}\n` },
    }),
  );
}

function targetOf({ name, format, template, kinds, policies, proxy, caBundle }: NotificationTargetSettings): object {
  return { name, format, template, kinds, policies, proxy, ca: caBundle };
}

function silencerOf({ name, matchers, durationInSec, proxy, caBundle }: SilencerSettings): object {
  return { name, matchers, durationInSec, proxy, ca: caBundle };
}

/** One volume with ConfigMap and Secrets. Secrets are optional, so the controller also starts without them. */
export function notificationVolume(
  settings: Settings,
): Pick<PodParts, 'volumeMounts'> & { readonly volumes?: k8s.Volume[] } {
  if (!notifies(settings)) return {};
  const { targets, silences } = settings.notifications;
  const sources = [
    ...targets.map(({ name, secret }) => secretIn(name, secret)),
    ...silences.map(({ name, secret }) => secretIn(silencerFolder(name), secret)),
  ];
  const config = { configMap: { name: NOTIFICATIONS_CONFIG_MAP } };
  return {
    volumeMounts: [{ name: VOLUME, mountPath: NOTIFICATIONS_DIR, readOnly: true }],
    volumes: [{ name: VOLUME, projected: { defaultMode: 0o440, sources: [config, ...sources] } }],
  };
}

function secretIn(folder: string, name: string): k8s.VolumeProjection {
  return { secret: { name, optional: true, items: SECRET_KEYS.map((key) => ({ key, path: `${folder}/${key}` })) } };
}
