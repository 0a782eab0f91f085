import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeMarkdown, shortened, withoutIcons, withoutLinks } from '../../src/present/safe_text';
import { tableBlock, textBlock, tooltipMarkdown, tooltipText } from '../../src/present/tooltip';

/** Undoes Markdown's backslash escapes. */
function unescape(markdown: string): string {
  return markdown.replace(/\\([!-/:-@[-`{-~])/g, '$1');
}

describe('escapeMarkdown', () => {
  it.each([
    '[x](command:evil)',
    '<img src=x onerror=y>',
    '&lt;b&gt;',
    'https://evil.example/',
    'www.evil.example',
    'a|b',
    '`code`',
    '# no heading',
    '$(sync~spin)',
    '![x](y)',
    '~~a~~ **b** _c_',
  ])('%j shows as it is', (text) => {
    const escaped = escapeMarkdown(text);
    // No character with a meaning stands without its backslash.
    expect(escaped.replace(/\\./g, '')).not.toMatch(/[!-/:-@[-`{-~]/);
    expect(unescape(escaped)).toBe(text);
  });

  it('escapes everything, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = escapeMarkdown(text);
        expect(escaped.replace(/\\./gs, '')).not.toMatch(/[!-/:-@[-`{-~\n\r]/);
      }),
    );
  });
});

describe('labels and notifications', () => {
  it('shows no icon that a name asks for', () => {
    expect(withoutIcons('$(bug) $$(x)')).not.toContain('$(');
    expect(withoutIcons('cost $5 (five)')).toBe('cost $5 (five)');
  });

  it('makes no link of a path', () => {
    expect(withoutLinks('/tmp/[x](command:y)')).not.toContain('](');
  });

  it('lets no control character through', () => {
    expect(withoutIcons('a\u001b[31mb')).toBe('a\\x1b[31mb');
    expect(withoutLinks('a\nb')).toBe('a\\x0ab');
  });

  it('shortens by characters', () => {
    expect(shortened('abc', 3)).toBe('abc');
    expect(shortened('abcd', 3)).toBe('ab…');
    expect(shortened('😀😀😀😀', 3)).toBe('😀😀…');
    expect(shortened('😀😀😀', 4)).toBe('😀😀😀');
  });
});

describe('tooltips', () => {
  const tooltip = {
    title: '[anon:<b>|x|]',
    blocks: [
      tableBlock('Memory', [['Rss', '4 kB', 'in memory']]),
      textBlock('[a](command:b)\nc'),
      tableBlock('', []),
    ],
  };

  it('become Markdown in which text is text', () => {
    expect(tooltipMarkdown(tooltip)).toBe(
      [
        '**\\[anon\\:\\<b\\>\\|x\\|\\]**',
        '',
        '| Memory |  |  |',
        '| :--- | :--- | :--- |',
        '| Rss | 4\u00a0kB | in memory |',
        '',
        '\\[a\\]\\(command\\:b\\)\\\\x0ac',
      ].join('\n'),
    );
  });

  it('become plain text', () => {
    expect(tooltipText(tooltip)).toBe('[anon:<b>|x|]\nMemory\nRss  4 kB  in memory\n[a](command:b)\\x0ac');
  });
});
