import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FILES = '{people,props/*,monitoring/*}.ts';
const INTRODUCTION = `# Props

All props of the package's constructs, out of their types. A prop with \`?\` may be left out. Wrong ones fail the app, all at once, each with its path.
`;

/**
 * The page for those who embed the constructs: what each interface that the package exports has, with types and defaults.
 * @param folder of the constructs in this repository
 */
export function propsPage(folder: string): string {
  const exported = readFileSync(join(folder, 'index.ts'), 'utf8');
  const sources = globSync(FILES, { cwd: folder }).toSorted();
  const interfaces = sources
    .flatMap((file) => interfacesIn(readFileSync(join(folder, file), 'utf8')))
    .filter(({ name }) => !name.endsWith('Settings') && new RegExp(`\\b${name}\\b`).test(exported))
    .toSorted((one, other) => order(one.name) - order(other.name));
  return [INTRODUCTION, ...interfaces.map(sectionOf)].join('\n');
}

/** What an app begins with comes first, and then the props of other constructs; the rest as it is found. */
const order = (name: string): number => (name === 'BrupopProps' ? 0 : name.endsWith('Props') ? 1 : 2);

interface Interface {
  readonly name: string;
  readonly bases: string;
  readonly body: string;
}

const INTERFACE = /^export interface (\w+)(?: extends ([\w, ]+))? \{\n([^]*?)\n\}$/gm;
const PROP = /(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\s+)?readonly (\w+\??): ([^;]+);/g;

const interfacesIn = (source: string): readonly Interface[] =>
  Array.from(source.matchAll(INTERFACE), ([, name = '', bases = '', body = '']) => ({ name, bases, body }));

function sectionOf({ name, bases, body }: Interface): string {
  const rows = Array.from(body.matchAll(PROP), ([, comment = '', prop = '', type = '']) => {
    const words = comment.replaceAll(/\s*\n\s*\*?\s?/g, ' ').trim();
    const [text = '', fallback = ''] = words.split(/\s*@default\s+/);
    return `| ${[`\`${prop}\``, typeText(type), fallback, text].map(inTable).join(' | ')} |`;
  });
  const more = bases === '' ? '' : `\nBesides, those of ${bases}.\n`;
  const head = '| prop | type | default | meaning |\n| --- | --- | --- | --- |';
  return `## ${name}\n${more}\n${head}\n${rows.join('\n')}\n`;
}

/** That a prop may be undefined, `?` says. */
const typeText = (type: string): string => `\`${type.replaceAll(/\s+/g, ' ').replace(' | undefined', '').trim()}\``;
const inTable = (text: string): string => text.replaceAll('|', String.raw`\|`);
