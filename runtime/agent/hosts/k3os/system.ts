import { jsonObject } from '../../../lib/json.ts';
import { osReleaseField } from '../os-release.ts';
import type { HostFiles } from './files.ts';

/** The parts that an upgrade replaces. Each part has a folder for each version, and a link to the version that boots next. */
export const COMPONENTS = ['k3os', 'k3s', 'kernel'] as const;
export type Component = (typeof COMPONENTS)[number];

/** Names of the versions that boot next; a part that has no link is missing. */
export type Links = Readonly<Partial<Record<Component, string>>>;

const SYSTEM = '/k3os/system';
const OS_RELEASE = '/etc/os-release';
const MODE = '/run/k3os/mode';
/** This file is in memory, so a reboot deletes it. */
const RECORD = '/run/k3os/brupop.json';

const KERNEL = `${SYSTEM}/kernel`;

const currentOf = (component: Component): string => `${SYSTEM}/${component}/current`;

/** The record of the present boot. */
export interface BootRecord {
  /** The links before anybody changed them, so the versions that run. */
  readonly booted: Links;
  /** The release whose upgrade has ended well. */
  readonly done?: string | undefined;
}

/** A k3OS installation, as its files tell. */
export class K3osSystem {
  readonly #files: HostFiles;
  constructor(files: HostFiles) {
    this.#files = files;
  }

  /** The release that runs, e.g. `v0.11.0`. The links tell what boots next, which is another one after an upgrade. @throws HostProtocolError */
  async running(): Promise<string> {
    return osReleaseField((await this.#files.read(OS_RELEASE)) ?? '', 'VERSION_ID');
  }

  /** How it was booted, e.g. `disk` or `live`; undefined where it does not say. */
  async mode(): Promise<string | undefined> {
    return (await this.#files.read(MODE))?.trim();
  }

  async hasKernel(): Promise<boolean> {
    return this.#files.isDirectory(KERNEL);
  }

  async links(): Promise<Links> {
    const links: Partial<Record<Component, string>> = {};
    for (const component of COMPONENTS) {
      const target = await this.#files.linkAt(currentOf(component));
      if (target !== undefined) links[component] = target.slice(target.lastIndexOf('/') + 1);
    }
    return links;
  }

  /** Points the links to the versions that booted. */
  async restore(booted: Links): Promise<void> {
    for (const component of COMPONENTS) {
      const version = booted[component];
      if (version !== undefined) await this.#files.link(currentOf(component), version);
    }
  }

  /** Undefined where there is no record, or it cannot be read. */
  async record(): Promise<BootRecord | undefined> {
    const { booted, done } = jsonObject(await this.#files.read(RECORD)) as Partial<BootRecord>;
    return booted && typeof booted === 'object' ? { booted, done } : undefined;
  }

  remember(record: BootRecord): Promise<void> {
    return this.#files.write(RECORD, `${JSON.stringify(record)}\n`);
  }
}

export function sameLinks(a: Links, b: Links): boolean {
  return COMPONENTS.every((component) => a[component] === b[component]);
}
