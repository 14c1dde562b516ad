import type { OpenApiSchema } from '../shadow/openapi.ts';
import type { ChannelCondition, ChannelStatus } from './model.ts';

/** The structural schema of an UpdateChannel. It refuses nothing that the preview's took: what is there must stay writable. */
export function channelCrdSchema(): OpenApiSchema {
  return {
    type: 'object',
    description: 'Which release the k3OS nodes of the cluster run, and how many of them are updated at once.',
    properties: {
      spec: {
        type: 'object',
        properties: {
          concurrency: {
            type: 'integer',
            nullable: true,
            description: 'Nodes that may be updating at once. 0 = none starts.',
          },
          url: { ...text, description: 'Where releases come from: github-releases://OWNER/REPOSITORY.' },
          version: {
            ...text,
            description: 'A release such as v0.11.0. "latest", or nothing, is replaced by the name of the newest.',
          },
        },
      },
      status,
    },
  };
}

const text: OpenApiSchema = { type: 'string', nullable: true };

const condition: OpenApiSchema = {
  type: 'object',
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  properties: {
    type: { type: 'string' },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    reason: { type: 'string' },
    message: { type: 'string' },
  } satisfies Record<keyof ChannelCondition, OpenApiSchema>,
};

const status: OpenApiSchema = {
  type: 'object',
  nullable: true,
  description: 'Written by the controller.',
  properties: {
    polling: {
      ...text,
      description: 'The node whose turn it is while the source is asked. No update starts meanwhile.',
    },
    upgrading: {
      type: 'array',
      nullable: true,
      items: { type: 'string' },
      description: 'The nodes that are being updated.',
    },
    conditions: { type: 'array', nullable: true, items: condition },
  } satisfies Record<keyof ChannelStatus, OpenApiSchema>,
};
