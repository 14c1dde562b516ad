import { expect } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import {
  CONTROLLER_DEPLOYMENT,
  CONTROLLER_LEASE,
  NAMESPACE,
  PAUSED_ANNOTATION,
} from '../../runtime/api/shadow/names.ts';
import { comesTrue } from './come-true.ts';
import { kubectl } from './kubectl.ts';
import type { Plugin, Status } from './plugin.ts';

/** What `kubectl brupop` says and does at the moments when it matters most. */

/** @param as the options of somebody who may change things */
export async function elsewhere(plugin: Plugin, as: readonly string[]): Promise<void> {
  expect(await plugin.run('pause', '-n', 'kube-system')).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^namespace kube-system does not have the operator .*: nothing was changed\n$/),
  });
  expect((await kubectl('get', 'namespace', 'kube-system', '-o', 'json')).stdout).not.toContain(PAUSED_ANNOTATION);
  const { out } = await plugin.run('pause', '--dry-run', ...as);
  expect(out).toMatch(/^ +undo: kubectl brupop resume --as olaf --as-group operators$/m);
}

/** A failure of node-1 has halted the release. */
export async function whileHalted(plugin: Plugin): Promise<void> {
  await comesTrue(async () => (await plugin.json<Status>(['status'])).halted.length > 0);
  const halted =
    /NEEDS YOU:? 1\.39\.0 \(\S+\) is halted for policy all: too many nodes failed on it \(1 may\): node-1 BootFailed \(running 1\.38\.0\)\. /;
  for (const command of [['status'], ['why'], ['why', 'node-3'], ['plan'], ['plan', '--until-done']])
    expect((await plugin.run(...command)).out.replaceAll(/\s+/g, ' ')).toMatch(halted);
  expect(await plugin.run('clear', '1.39.0')).toMatchObject({ code: 0, err: '' });
  await comesTrue(async () => (await plugin.json<Status>(['status'])).halted.length === 0);
}

export async function reported(plugin: Plugin, file: string): Promise<void> {
  expect(await plugin.run('report', '-f', file)).toMatchObject({ code: 0, out: expect.stringContaining(file) });
  const text = await readFile(file, 'utf8');
  expect(JSON.parse(text)).toMatchObject({
    commands: { status: { counts: { nodes: 4 } }, doctor: { problems: 0 } },
    objects: { nodes: expect.any(Array), shadows: expect.any(Array), leases: expect.any(Array) },
  });
  expect(text).not.toMatch(/PRIVATE KEY|eyJhbGciOi/);
}

export async function partsGone(plugin: Plugin): Promise<void> {
  const parts = ['deployment/brupop-apiserver', `deployment/${CONTROLLER_DEPLOYMENT}`];
  await kubectl('scale', '-n', NAMESPACE, ...parts, '--replicas=0');
  await kubectl('wait', '-n', NAMESPACE, '--for=delete', 'pod', '-l', 'brupop.bottlerocket.aws/component!=agent');
  await comesTrue(async () => (await plugin.run('doctor')).out.includes('BAD webhook'));
  const { code, out } = await plugin.run('doctor');
  expect(code).toBe(3);
  expect(out).toMatch(/^BAD parts: brupop-apiserver is scaled to 0$/m);
  expect(out).toMatch(/^BAD leader: no controller leads$/m);
  expect(out).toMatch(/^BAD webhook: shadows cannot be read as v1: conversion webhook for .* failed: .*\n +-> /m);
  const { problems } = await plugin.json<{ problems: number }>(['doctor'], [3]);
  expect(problems).toBe(out.match(/^BAD /gm)?.length);
}

/** The controller is gone. */
export async function nobodyLeads(plugin: Plugin): Promise<void> {
  const lease = ['patch', 'lease', '-n', NAMESPACE, CONTROLLER_LEASE, '--type', 'merge', '--patch'];
  await kubectl(...lease, JSON.stringify({ spec: { renewTime: '2026-01-01T00:00:00.000000Z' } }));
  await kubectl('delete', 'daemonset', '-n', NAMESPACE, 'brupop-agent', '--wait=false');
  const nobody = /NEEDS YOU:? no controller has led since 2026-01-01T00:00:00Z, agents are missing on 4 of 4 nodes\. /;
  await comesTrue(async () => nobody.test((await plugin.run('status')).out.replaceAll(/\s+/g, ' ')));
  for (const command of [['status'], ['why'], ['why', 'node-1'], ['plan'], ['plan', '--until-done']])
    expect((await plugin.run(...command)).out.replaceAll(/\s+/g, ' ')).toMatch(nobody);
  const { out } = await plugin.run('status');
  expect(out).not.toContain('All nodes that agents report run what they are offered');
  expect((await plugin.run('status', '--exit-code')).code).toBe(3);
}

export async function twoOperators(plugin: Plugin): Promise<void> {
  await kubectl('create', 'namespace', 'second');
  await kubectl('create', 'deployment', '-n', 'second', CONTROLLER_DEPLOYMENT, '--image=none', '--replicas=0');
  expect(await plugin.run('pause')).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(
      /^there are operators in .* and second: say with -n which one you mean; nothing was changed/,
    ),
  });
  expect((await plugin.run('pause', '-n', NAMESPACE, '--dry-run')).out).toContain(`resume -n ${NAMESPACE}`);
}
