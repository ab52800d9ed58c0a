import { asOutput, type KernelOutput } from '../../kernel/output';

/** A piece of the stream that a file of output takes: text as it stands there, or text that never arrived. */
export type ArtifactPiece =
  | { readonly kind: 'text'; readonly text: string }
  /** UTF-8 bytes. */
  | { readonly kind: 'gap'; readonly bytes: number };

/**
 * What a file shows of an output. The length of a display's line does not depend on its data: after a reload the output is
 * told again, perhaps with a note instead of the data, and has to be of the same length then.
 */
export function artifactPieceOf(piece: KernelOutput | string): ArtifactPiece {
  const output = asOutput(piece);
  switch (output.type) {
    case 'stream':
      return text(output.text);
    case 'gap':
      return { kind: 'gap', bytes: output.bytes };
    case 'result': {
      const plain = output.data['text/plain'];
      return text(typeof plain === 'string' ? `${plain}\n` : '');
    }
    case 'error':
      return text(`${output.traceback.trimEnd()}\n`);
    case 'display':
      return text('[A display, which only the panel shows.]\n');
    case 'updateDisplay':
    case 'clear':
      return text('');
  }
}

function text(of: string): ArtifactPiece {
  return { kind: 'text', text: of };
}
