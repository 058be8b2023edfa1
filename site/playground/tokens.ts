/** Splits JavaScript into pieces with different colours. It knows no more of the language than that. */

export interface Token {
  readonly kind: 'comment' | 'text' | 'word' | 'number' | 'plain';
  readonly text: string;
}

const TOKEN =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<text>`(?:\\[\s\S]|[^`\\])*`?|'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?)|(?<word>\b(?:async|await|break|case|catch|class|const|continue|default|delete|do|else|export|extends|false|finally|for|from|function|if|import|in|instanceof|let|new|null|of|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|yield)\b)|(?<number>\b\d[\w.]*)/g;

export function tokensOf(code: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (const found of code.matchAll(TOKEN)) {
    const { comment, text, word } = found.groups ?? {};
    if (found.index > at) tokens.push({ kind: 'plain', text: code.slice(at, found.index) });
    const kind = comment ? 'comment' : text ? 'text' : word ? 'word' : 'number';
    tokens.push({ kind, text: found[0] });
    at = found.index + found[0].length;
  }
  return [...tokens, { kind: 'plain', text: code.slice(at) }];
}
