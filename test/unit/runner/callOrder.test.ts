import { expect, it } from 'vitest';
import { CallOrder } from '../../../src/runner/callOrder';
import { flush } from '../../support/manualClock';

it('a step that is given up before its turn lets nobody overtake those ahead of it', async () => {
  const order = new CallOrder();
  const first = order.enter('s');
  const second = order.enter('s');
  second.done();
  const third = order.enter('s');
  let isReached = false;
  void third.reached.then(() => (isReached = true));
  await flush();
  expect(isReached).toBe(false);
  first.done();
  await third.reached;
  third.done();
});
