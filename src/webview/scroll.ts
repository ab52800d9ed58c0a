import { el } from './dom';
import { icon } from './icons';

const NEAR_PX = 24;

/** Stays at the newest line until the person scrolls up, and says how to get back. */
export class Follower {
  readonly chip = el(
    'button',
    { type: 'button', class: 'latest', hidden: '' },
    icon('down'),
    'Jump to latest',
  );
  private following = true;
  private lastTop = 0;

  constructor(
    private readonly scroller: HTMLElement,
    content: HTMLElement,
  ) {
    scroller.addEventListener('scroll', () => this.scrolled(), { passive: true });
    this.chip.addEventListener('click', () => {
      this.follow();
      scroller.focus();
    });
    // Pictures arrive late and blocks learn their height when they come into sight.
    const observer = new ResizeObserver(() => this.keepUp());
    observer.observe(content);
    observer.observe(scroller);
  }

  /** Undefined while it follows, else how far down the person is, in px. */
  get position(): number | undefined {
    return this.following ? undefined : this.scroller.scrollTop;
  }

  follow(): void {
    this.following = true;
    this.chip.hidden = true;
    this.keepUp();
  }

  restore(position: number): void {
    this.following = false;
    this.scroller.scrollTop = this.lastTop = position;
    this.chip.hidden = this.distance() <= NEAR_PX;
  }

  keepUp(): void {
    if (!this.following) return;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.lastTop = this.scroller.scrollTop;
  }

  private scrolled(): void {
    const { scrollTop } = this.scroller;
    const wentUp = scrollTop < this.lastTop - 1;
    this.lastTop = scrollTop;
    if (this.distance() <= NEAR_PX) this.following = true;
    else if (wentUp) this.following = false;
    this.chip.hidden = this.following;
  }

  private distance(): number {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight;
  }
}
