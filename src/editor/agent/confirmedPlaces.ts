import { someChat, type Chat } from './chat';

/** Calls that are remembered; the oldest go first. */
const REMEMBERED = 100;

/** What the editor says of a call before it asks for leave. */
export interface PreparedCall {
  readonly chat: Chat;
  /** The chat's request that the call is made for. Undefined: it is not told, as by agents that know nothing of it. */
  readonly request: string | undefined;
  readonly input: unknown;
}

interface Entry<Place> {
  readonly ownerId: string;
  readonly request: string | undefined;
  readonly input: string;
  readonly place: Place;
  /** Calls that a person was shown the place for and that have not come. Some of them may have been refused. */
  open: number;
}

/**
 * Where code runs that people were asked about: there and nowhere else, whatever file is active by then. The editor gives a
 * call no name that its preparation has too, and tells of none that was refused. So all calls of one request with the same
 * input are shown the same place, and it does not matter which of them come. A new request begins anew; where requests are
 * not told, what was shown first stays until its calls have come.
 */
export class ConfirmedPlaces<Place> {
  private entries: Entry<Place>[] = [];

  /** A person is about to be asked. Answers the place that is to be shown: this one, or the one that was shown before. */
  prepare({ chat: { ownerId }, request, input }: PreparedCall, place: Place): Place {
    const text = JSON.stringify(input);
    const known = this.entries.find((each) => each.ownerId === ownerId && each.input === text);
    if (known && (known.request === request || request === undefined)) {
      known.open++;
      return known.place;
    }
    const others = this.entries.filter((each) => each !== known);
    this.entries = [...others, { ownerId, request, input: text, place, open: 1 }].slice(
      -REMEMBERED,
    );
    return place;
  }

  /** The call has come. Undefined: nobody was asked. */
  take({ ownerId }: Chat, input: unknown): Place | undefined {
    const text = JSON.stringify(input);
    const own = this.entries.find((each) => each.ownerId === ownerId && each.input === text);
    // Some editors tell whose call it is only when it comes.
    const found =
      own ?? this.entries.find((each) => each.ownerId === someChat.ownerId && each.input === text);
    if (!found) return undefined;
    found.open--;
    if (found.open === 0) this.entries = this.entries.filter((each) => each !== found);
    return found.place;
  }
}
