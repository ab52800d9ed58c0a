import fs from 'node:fs';
import net from 'node:net';
import readline from 'node:readline';
import type * as vscode from 'vscode';
import type { Answer, FromHost, Request } from '../remoteControl/messages';

/** What runs inside the extension host: it gets the `vscode` module and `argument`, and closes over nothing. */
export type HostFunction<A, R> = (api: typeof vscode, argument: A) => R | PromiseLike<R>;

/** An extension host that reported for duty. */
export interface ControlledHost {
  readonly pid: number;
  /** Paths of the window's workspace folders. */
  readonly folders: readonly string[];
  /** Runs `body` there and resolves to what it returns, as JSON. Rejects with its error, or when the host is gone. */
  evaluate<A, R>(body: HostFunction<A, R>, argument: A): Promise<R>;
  /** Resolves when the host's socket closes, which is when the process ends in whatever way. */
  readonly gone: Promise<void>;
}

/** The test's end of the companion extension: hosts connect to it as windows open and hosts restart. */
export interface RemoteControl {
  readonly address: string;
  hosts(): readonly ControlledHost[];
  /** Resolves to the next host with `folder` open that is not among `known`; it may be here already. */
  nextHost(
    folder: string,
    known: readonly ControlledHost[],
    limitMs?: number,
  ): Promise<ControlledHost>;
  close(): void;
}

export async function listenForRemoteControl(address: string): Promise<RemoteControl> {
  const hosts = new Set<ControlledHost>();
  const arrivals = new Set<() => void>();
  const sockets = new Set<net.Socket>();

  const listener = net.createServer((socket) => {
    sockets.add(socket);
    let host: ControlledHost | undefined;
    const connection = converse(socket, (hello) => {
      host = hello;
      hosts.add(hello);
      for (const arrived of arrivals) arrived();
    });
    void connection.then(() => {
      sockets.delete(socket);
      if (host !== undefined) hosts.delete(host);
    });
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(address, resolve);
  });

  return {
    address,
    hosts: () => [...hosts],
    nextHost: async (folder, known, limitMs = 40_000) => {
      const real = fs.realpathSync(folder);
      const find = (): ControlledHost | undefined =>
        [...hosts].find((each) => each.folders.includes(real) && !known.includes(each));
      return new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          arrivals.delete(arrived);
          reject(new Error(`no extension host came for ${real} within ${limitMs} ms`));
        }, limitMs);
        const arrived = (): void => {
          const host = find();
          if (host === undefined) return;
          clearTimeout(limit);
          arrivals.delete(arrived);
          resolve(host);
        };
        arrivals.add(arrived);
        arrived();
      });
    },
    close: () => {
      listener.close();
      for (const each of sockets) each.destroy();
    },
  };
}

/** Speaks with one extension host until its socket closes. */
async function converse(
  socket: net.Socket,
  arrived: (host: ControlledHost) => void,
): Promise<void> {
  const asked = new Map<number, (answer: Answer) => void>();
  let lastId = 0;
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  // A killed host resets the connection; the close that follows says all there is to say.
  socket.on('error', () => socket.destroy());

  const evaluate = async <A, R>(body: HostFunction<A, R>, argument: A): Promise<R> => {
    const request: Request = { id: ++lastId, body: body.toString(), argument };
    const answer = await new Promise<Answer>((resolve) => {
      asked.set(request.id, resolve);
      void gone.then(() => resolve({ id: request.id, error: 'the extension host is gone' }));
      socket.write(`${JSON.stringify(request)}\n`);
    });
    asked.delete(request.id);
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value as R;
  };

  readline.createInterface({ input: socket }).on('line', (line) => {
    const message = JSON.parse(line) as FromHost;
    if ('pid' in message) arrived({ ...message, evaluate, gone });
    else asked.get(message.id)?.(message);
  });
  return gone;
}
