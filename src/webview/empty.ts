import { el } from './dom';
import { icon } from './icons';

/** What stands there before the first run. */
export function drawEmpty(runKey: string): HTMLElement {
  const keys = runKey.split('+').map((key) => el('kbd', {}, key));
  const binding = el('span', { class: 'keys' }, ...keys);
  const line = el(
    'p',
    {},
    'Select code in a Python file and press ',
    binding,
    ' to run it here, in a session that stays.',
  );
  return el('div', { class: 'welcome' }, icon('mark'), line);
}
