import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import * as v from 'valibot';
import { HoldfastError } from '../base/errors';
import { readLine } from './lines';
import { PROTOCOL_VERSION } from './messages';
import { parse, type Schema } from './parse';

/**
 * The greeting on a fresh socket: each side proves to the other that it knows the token, which itself never travels.
 * Lines of JSON, in this order: the client's nonce; the host's nonce and proof; the client's proof; the host's
 * welcome. JSON-RPC follows. A named pipe of Windows can be opened by others, so nothing else goes before the welcome.
 */

const nonce = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const proof = nonce;
const hello = v.object({ version: v.number(), nonce });
const challenge = v.object({ version: v.number(), nonce, proof });
const response = v.object({ proof });
const refusal = v.picklist(['version', 'token', 'busy']);
const welcome = v.union([v.object({ welcome: v.literal(true) }), v.object({ refused: refusal })]);

export type Refusal = v.InferOutput<typeof refusal>;

/** The client's part. Rejects with HoldfastError `protocol` when refused or when the host cannot prove itself. */
export async function greetHost(socket: Socket, token: string, signal: AbortSignal): Promise<void> {
  const mine = freshNonce();
  send(socket, { version: PROTOCOL_VERSION, nonce: mine });
  const reply = await receive(socket, v.union([challenge, v.object({ refused: refusal })]), signal);
  if ('refused' in reply) throw refused(reply.refused);
  if (!same(reply.proof, prove(token, 'host', mine, reply.nonce))) {
    throw new HoldfastError(
      'protocol',
      'What answers on the kernel host’s socket is not the host.',
    );
  }
  send(socket, { proof: prove(token, 'client', mine, reply.nonce) });
  const last = await receive(socket, welcome, signal);
  if ('refused' in last) throw refused(last.refused);
}

/**
 * The host's part. `admit` is asked once the client has proved itself, and claims the place in the same step. Resolves
 * to why the client was refused, or undefined when it is in; a refused client has been told.
 */
export async function greetClient(
  socket: Socket,
  token: string,
  signal: AbortSignal,
  admit: () => Refusal | undefined,
): Promise<Refusal | undefined> {
  const refuse = (reason: Refusal): Refusal => {
    send(socket, { refused: reason });
    return reason;
  };
  const first = await receive(socket, hello, signal);
  if (first.version !== PROTOCOL_VERSION) return refuse('version');
  const mine = freshNonce();
  send(socket, {
    version: PROTOCOL_VERSION,
    nonce: mine,
    proof: prove(token, 'host', first.nonce, mine),
  });
  const answer = await receive(socket, response, signal);
  if (!same(answer.proof, prove(token, 'client', first.nonce, mine))) return refuse('token');
  const reason = admit();
  if (reason !== undefined) return refuse(reason);
  send(socket, { welcome: true });
  return undefined;
}

export function freshToken(): string {
  return randomBytes(32).toString('hex');
}

const freshNonce = freshToken;

// The role is part of the text, so that a proof cannot be sent back to who made it.
function prove(token: string, role: 'host' | 'client', client: string, host: string): string {
  return createHmac('sha256', token)
    .update(`holdfast ${PROTOCOL_VERSION} ${role} ${client} ${host}`)
    .digest('hex');
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function send(socket: Socket, message: object): void {
  socket.write(`${JSON.stringify(message)}\n`);
}

async function receive<S extends Schema>(
  socket: Socket,
  schema: S,
  signal: AbortSignal,
): Promise<v.InferOutput<S>> {
  const line = await readLine(socket, signal);
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch (error) {
    throw new HoldfastError('protocol', 'The greeting is not JSON.', { cause: error });
  }
  return parse(schema, message, 'greeting');
}

function refused(reason: Refusal): HoldfastError {
  switch (reason) {
    case 'version':
      return new HoldfastError('protocol', 'The kernel host is of another version.');
    case 'token':
      return new HoldfastError('protocol', 'The kernel host did not accept the token.');
    case 'busy':
      return new HoldfastError('protocol', 'The kernel host belongs to another window.');
  }
}
