import type { Event } from '../../base/event';
import type { Language } from '../../kernel/language';
import type { RunOrigin } from '../../pool/types';
import type { BackgroundSnapshot } from '../../runner/backgroundTypes';

/** What the face for other extensions needs of the window's background runs. Ids that are not known throw. */
export interface BackgroundPort {
  launch(launch: {
    readonly code: string;
    readonly owner: string;
    readonly ownerName: string;
    readonly origin: RunOrigin;
    readonly language: Language;
    readonly cwd: string;
    readonly interpreter?: string | undefined;
    readonly label?: string;
    readonly excludeFromContext?: boolean;
  }): Promise<Pick<BackgroundSnapshot, 'executionId'>>;
  peek(executionId: string): BackgroundSnapshot;
  list(): readonly BackgroundSnapshot[];
  interrupt(executionId: string): Promise<BackgroundSnapshot>;
  kill(executionId: string): Promise<BackgroundSnapshot>;
  readonly onDidChange: Event<void>;
}
