import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openPanel, type PanelHarness } from '../support/panelHarness/harness';
import { live, scene, SESSION, startRun, stderr, stdout } from '../support/panelHarness/scenes';
import { measureTasks, type TaskTimes } from '../support/panelHarness/tasks';
import { themeNames } from '../support/panelHarness/themes';
import { launchBrowser } from '../support/workbench/browser';

const shots = join(import.meta.dirname, '../../test-output/screenshots');

let browser: Browser;
let panel: PanelHarness;

beforeAll(async () => {
  await mkdir(shots, { recursive: true });
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
});

afterEach(async () => {
  expect(panel.complaints).toEqual([]);
  await panel.page.context().close();
});

const shoot = (name: string): Promise<Buffer> =>
  panel.page.screenshot({ path: join(shots, `panel-${name}.png`), animations: 'disabled' });

describe('the panel looks right', () => {
  it.each(themeNames)('in %s', async (theme) => {
    panel = await openPanel(browser, { theme, height: 1000 });
    scene(panel.transcript);
    await panel.settled();
    await shoot(theme);
    await panel.page.locator('.run').first().scrollIntoViewIfNeeded();
    await panel.page.locator('.run').nth(1).hover();
    await shoot(`${theme}-scrolled`);
    expect(await panel.page.getByRole('button', { name: 'Jump to latest' }).isVisible()).toBe(true);
  });

  it.each(['dark', 'light'] as const)('before the first run, in %s', async (theme) => {
    panel = await openPanel(browser, { theme, height: 260 });
    await panel.settled();
    expect(await panel.page.locator('.welcome').innerText()).toContain(
      'Select code in a Python file',
    );
    await shoot(`empty-${theme}`);
  });

  it.each(['dark', 'hc-light'] as const)('while a run asks, in %s', async (theme) => {
    panel = await openPanel(browser, { theme, height: 260, width: 620 });
    panel.transcript.sessionChanged([live('busy')]);
    const run = startRun(panel.transcript, 'name = input("Your name: ")\nprint("Hello,", name)');
    void panel.transcript.ask(run.id, {
      prompt: 'Your name: ',
      password: false,
      signal: new AbortController().signal,
    });
    await panel.settled();
    await panel.page.getByRole('textbox', { name: 'Your name:' }).fill('Ada');
    await shoot(`asking-${theme}`);
  });

  it('narrow, with long code and text', async () => {
    panel = await openPanel(browser, { width: 380, height: 520 });
    panel.transcript.sessionChanged([{ ...live(), label: 'a rather long session name' }]);
    const code = Array.from({ length: 30 }, (_, i) => `value_${i} = compute(${i})`).join('\n');
    const run = startRun(panel.transcript, code, {
      source: { file: '/x/a_long_file_name.py', line: 1 },
    });
    run.put(stdout(`${'long '.repeat(60)}\n`));
    run.end();
    await panel.settled();
    await shoot('narrow');
    await panel.page.getByRole('button', { name: '20 more lines' }).click();
    expect(await panel.page.locator('.code').innerText()).toContain('value_29');
  });
});

/** The text of an update with one entry of loose output. */
const rawUpdate = (seq: number, output: string): string => `{
  type: 'update', seq: ${seq}, now: 0, reset: false, shown: '${SESSION}', sessions: null, removed: [],
  entries: [{ kind: 'loose', id: ${seq}, output: { totalLines: 1, totalBytes: 1, ...${output} } }],
  droppedRuns: 0, ask: null, runKey: '', inputDisabled: null,
}`;

describe('what output may do to the page', () => {
  const evil = `<img src="https://evil.test/x.png" onerror="window.hacked = 1"><script>window.hacked = 2</script>
    <a id="js" href="javascript:window.hacked=3">x</a><svg onload="window.hacked=4"><script>window.hacked=5</script></svg>
    <iframe srcdoc="<script>parent.hacked=6</script>"></iframe><form action="https://evil.test"><button>go</button></form>
    <style>body { display: none } @import "https://evil.test/x.css"; p { background: url(https://evil.test/y.png) }</style>
    <p id="kept" style="color: rgb(1, 2, 3)">kept</p><math><mtext><table><mglyph><style><img src=x onerror="window.hacked=7">`;

  it('nothing runs, nothing is fetched, nothing leaves its place', async () => {
    panel = await openPanel(browser);
    const run = startRun(panel.transcript, 'display(HTML(...))');
    run.put(
      { type: 'display', data: { 'text/html': evil } },
      {
        type: 'display',
        data: {
          'image/svg+xml': `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>parent.hacked=8</script><image href="https://evil.test/z.png"/></svg>`,
        },
      },
      stdout(
        '<img src=x onerror="window.hacked=9">\x1b]8;;javascript:window.hacked=10\x1b\\link\x1b]8;;\x1b\\\n',
      ),
      { type: 'error', name: '<b>E</b>', value: '<script>hacked=11</script>', traceback: '' },
    );
    await panel.settled();
    const { page } = panel;
    await page.getByText('x', { exact: true }).click();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(panel.fetched).toEqual([]);
    const kept = page.locator('#kept');
    expect(await kept.isVisible()).toBe(true);
    const colour =
      'getComputedStyle(document.querySelector(".html > div").shadowRoot.querySelector("#kept")).color';
    expect(await page.evaluate(colour)).toBe('rgb(1, 2, 3)');
    await page.getByText('[picture not loaded: https://evil.test/x.png]').waitFor();
    expect(
      await page.locator('.html').locator('script, iframe, form, button, [onerror]').count(),
    ).toBe(0);
    expect(await page.locator('.output').innerText()).toContain(
      '<img src=x onerror="window.hacked=9">link',
    );
    expect(await page.locator('.block a').count()).toBe(0);
    expect((await page.locator('.error-summary').innerText()).trim()).toBe(
      '<b>E</b>: <script>hacked=11</script>',
    );
    // What the policy refuses on top: a picture in a style sheet, and handlers while they are being cleaned away.
    expect(panel.complaints.every((text) => text.includes('Content Security Policy'))).toBe(true);
    panel.complaints.length = 0;
  });

  it('its styles cannot cover the panel, whatever they say of their own border', async () => {
    panel = await openPanel(browser, { height: 300 });
    const { page, transcript } = panel;
    transcript.sessionChanged([live('busy')]);
    const run = startRun(transcript, 'getpass()');
    const cover = 'position:fixed!important;inset:0!important;z-index:9999!important';
    run.put(
      {
        type: 'display',
        data: {
          'text/html': `<style>:host{${cover};contain:none!important;display:block!important;width:100vw!important;height:100vh!important;margin:0!important}</style><p>host</p>`,
        },
      },
      {
        type: 'display',
        data: { 'text/html': `<div id="within" style="${cover};background:red">within</div>` },
      },
      {
        type: 'display',
        data: {
          'text/html':
            '<style>:host{overflow:visible!important;height:30px!important}</style><div style="margin:-900px;width:4000px;height:4000px;background:red">wide</div>',
        },
      },
    );
    const answered = transcript.ask(run.id, {
      prompt: 'Password: ',
      password: true,
      signal: new AbortController().signal,
    });
    await panel.settled();
    const covered = await page.evaluate(`[...document.querySelectorAll('.html')].map((frame) => {
      const { left, top, right, bottom } = frame.getBoundingClientRect();
      const within = (x, y) => x >= left && x <= right && y >= top && y <= bottom;
      const foreign = [];
      for (let x = 2; x < innerWidth; x += 37)
        for (let y = 2; y < innerHeight; y += 7)
          if (frame.contains(document.elementFromPoint(x, y)) && !within(x, y)) foreign.push([x, y]);
      return foreign.length;
    })`);
    expect(covered).toEqual([0, 0, 0]);
    await page.getByLabel('Password:').click();
    await page.keyboard.type('hunter2');
    await page.keyboard.press('Enter');
    expect(await answered).toBe('hunter2');
  });

  it('half a character costs nothing but itself', async () => {
    panel = await openPanel(browser);
    const run = startRun(panel.transcript, "display({'image/svg+xml': …}, raw=True)");
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>\ud800</text></svg>`;
    run.put({ type: 'display', data: { 'image/svg+xml': svg } }, stdout('half \ud800 a line\n'));
    run.put({ type: 'display', data: { 'text/html': '<p>half \udc00 a table</p>' } });
    run.put({ type: 'error', name: 'E', value: '\ud800', traceback: '' });
    await panel.settled();
    const width = 'document.querySelector(".picture img").naturalWidth';
    await expect.poll(() => panel.page.evaluate(width)).toBe(9);
    run.put(stdout('after\n'));
    await panel.settled();
    expect(await panel.page.locator('.block').last().innerText()).toBe('after\n');
    expect(panel.requests).toEqual([]);
  });

  it('what cannot be drawn says so in its place, and the rest comes', async () => {
    panel = await openPanel(browser);
    const run = startRun(panel.transcript, 'x');
    await panel.settled();
    // No text of JSON makes a number like this one; it stands for whatever we did not think of.
    const pieces = `[{ kind: 'display', id: 90, result: false, data: { 'application/json': 1n }, metadata: {} },
      { kind: 'text', name: 'stdout', text: 'rest\\n' }]`;
    await panel.sendRaw(rawUpdate(90, `{ clear: false, pieces: ${pieces}, displays: [] }`));
    await panel.page.getByText('This could not be shown: ').waitFor();
    await expect.poll(() => panel.acknowledged.at(-1)).toBe(90);
    expect(await panel.page.locator('.block').allInnerTexts()).toEqual(['rest\n']);
    expect(panel.requests).toMatchObject([{ type: 'problem' }]);
    run.put(stdout('after\n'));
    await panel.settled();
    expect(await panel.page.locator('.run .block').allInnerTexts()).toContain('after\n');
  });

  it('an update that is not understood is acknowledged and told', async () => {
    panel = await openPanel(browser);
    await panel.settled();
    await panel.sendRaw(`{ type: 'update', seq: 91, entries: 'none' }`);
    await panel.sendRaw(`'nothing of ours'`);
    await expect.poll(() => panel.acknowledged.at(-1)).toBe(91);
    await panel.page.getByText('Something here could not be shown: ').waitFor();
    await expect.poll(() => panel.requests.map(({ type }) => type)).toEqual(['problem', 'problem']);
    startRun(panel.transcript, 'x').put(stdout('after\n'));
    await panel.settled();
    expect(await panel.page.locator('.block').innerText()).toBe('after\n');
  });

  it('a huge table is cut to what a person reads', async () => {
    panel = await openPanel(browser);
    const row = `<tr>${'<td>1.2345</td>'.repeat(10)}</tr>`;
    const html = `<table><tbody>${row.repeat(5_000)}</tbody></table>`;
    startRun(panel.transcript, 'df').put({ type: 'result', data: { 'text/html': html } });
    await panel.settled();
    expect(await panel.page.locator('.html tr').count()).toBe(500);
    expect(await panel.page.locator('.html .gap').innerText()).toBe('… 4,500 rows left out');
  });
});

describe('what a person sees and does', () => {
  it('coloured text with literal tags', async () => {
    panel = await openPanel(browser);
    startRun(panel.transcript, 'x').put(stdout('\x1b[31m<b>x</b>\x1b[0m\n'));
    await panel.settled();
    const red = panel.page.locator('.output .f1');
    expect(await red.innerText()).toBe('<b>x</b>');
    const colour = await panel.page.evaluate(
      'getComputedStyle(document.querySelector(".f1")).color',
    );
    expect(colour).toBe('rgb(205, 49, 49)');
  });

  it('a progress line that moves, with stderr between, split over messages', async () => {
    panel = await openPanel(browser);
    const run = startRun(panel.transcript, 'for _ in tqdm(…): …');
    for (let i = 0; i <= 100; i += 10) {
      run.put(stdout(`\r${i}`), stdout(' %'));
      if (i === 50) run.put(stderr('careful\n'));
      await panel.settled();
    }
    expect(await panel.page.locator('.block.stdout').allInnerTexts()).toEqual(['100 %\n']);
    expect(await panel.page.locator('.block.stderr').allInnerTexts()).toEqual(['careful\n']);
  });

  it('places in tracebacks and the source lead to the file', async () => {
    panel = await openPanel(browser);
    const run = startRun(panel.transcript, 'f()', { source: { file: '/a/b.py', line: 3 } });
    run.put({
      type: 'error',
      name: 'E',
      value: 'no',
      traceback: 'Traceback:\n  File "/a/c.py", line 7, in f\nE: no',
    });
    await panel.settled();
    await panel.page.getByRole('button', { name: 'b.py:3' }).click();
    await panel.page.getByRole('button', { name: 'File "/a/c.py", line 7' }).click();
    expect(panel.requests).toEqual([
      { type: 'reveal', file: '/a/b.py', line: 3 },
      { type: 'reveal', file: '/a/c.py', line: 7 },
    ]);
  });

  it('the full output of a run on disk is one click away', async () => {
    panel = await openPanel(browser);
    startRun(panel.transcript, 'small').end();
    startRun(panel.transcript, 'big').end({ truncated: true, artifact: '/tmp/full.txt' });
    await panel.settled();
    await panel.page.getByRole('button', { name: 'Open the full output' }).click();
    expect(panel.requests).toEqual([{ type: 'reveal', file: '/tmp/full.txt', line: 1 }]);
  });

  it('a display that is updated changes in place; a cleared one goes', async () => {
    panel = await openPanel(browser);
    const run = startRun(panel.transcript, 'bar');
    run.put({ type: 'display', data: { 'text/plain': '0 %' }, displayId: 'a' }, stdout('after\n'));
    await panel.settled();
    run.put({ type: 'updateDisplay', displayId: 'a', data: { 'text/plain': '100 %' } });
    await panel.settled();
    expect((await panel.page.locator('.output').innerText()).split(/\n+/)).toEqual([
      '100 %',
      'after',
      '',
    ]);
    run.put({ type: 'clear', wait: false }, stdout('new\n'));
    await panel.settled();
    expect(await panel.page.locator('.output').innerText()).toBe('new\n');
  });

  it('the time goes on while it runs and stands when it is over; the end is announced', async () => {
    panel = await openPanel(browser);
    const run = startRun(panel.transcript, 'x', { startedAgoMs: 5_000 });
    await panel.settled();
    const elapsed = panel.page.locator('.elapsed');
    const first = await elapsed.innerText();
    await expect.poll(() => elapsed.innerText()).not.toBe(first);
    panel.transcript.finished(run.id, { at: Date.now(), failure: 'The kernel died.' });
    await panel.settled();
    expect(await panel.page.getByRole('status').innerText()).toBe(
      'Could not run: The kernel died.',
    );
    expect(await panel.page.locator('.run').getAttribute('aria-label')).toBe('Could not run: x');
  });

  it('the newest line stays in sight until the person scrolls up', async () => {
    panel = await openPanel(browser, { height: 300 });
    const run = startRun(panel.transcript, 'x');
    run.put(stdout('line\n'.repeat(500)));
    await panel.settled();
    const distance = (): Promise<number> =>
      panel.page.evaluate(
        '(() => { const l = document.querySelector(".log"); return l.scrollHeight - l.scrollTop - l.clientHeight; })()',
      );
    expect(await distance()).toBeLessThan(2);
    await panel.page.locator('.log').hover();
    await panel.page.mouse.wheel(0, -600);
    const chip = panel.page.getByRole('button', { name: 'Jump to latest' });
    await chip.waitFor();
    const away = await distance();
    run.put(stdout('more\n'.repeat(50)));
    await panel.settled();
    expect(await distance()).toBeGreaterThan(away);
    await chip.click();
    expect(await distance()).toBeLessThan(2);
    expect(await chip.isVisible()).toBe(false);
  });

  it('copies the output of a run', async () => {
    panel = await openPanel(browser);
    startRun(panel.transcript, 'x').put(stdout('\x1b[32ma\x1b[0m\nb\n'), {
      type: 'result',
      data: { 'text/html': '<b>1</b>', 'text/plain': '1' },
    });
    await panel.settled();
    await panel.page.locator('.run').hover();
    await panel.page.getByRole('button', { name: 'Copy output' }).click();
    expect(panel.requests).toEqual([{ type: 'copy', text: 'a\nb\n1' }]);
  });

  it('chooses, interrupts and clears sessions', async () => {
    panel = await openPanel(browser);
    const { page, transcript } = panel;
    transcript.sessionChanged([live('idle'), { ...live('busy'), key: 'python:b', label: 'b' }]);
    startRun(transcript, 'in demo').end();
    await panel.settled();
    expect(await page.getByRole('button', { name: 'Interrupt' }).isDisabled()).toBe(true);
    await page
      .getByLabel('Session', { exact: true })
      .and(page.locator('select'))
      .selectOption('python:b');
    await expect.poll(() => panel.requests.length).toBe(1);
    await panel.settled();
    expect(await page.locator('.run').count()).toBe(0);
    await page.getByRole('button', { name: 'Interrupt' }).click();
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(panel.requests).toEqual([
      { type: 'show', sessionKey: 'python:b' },
      { type: 'interrupt', sessionKey: 'python:b' },
      { type: 'clear', sessionKey: 'python:b' },
    ]);
  });

  it('finds draft, history and place again after it was hidden', async () => {
    panel = await openPanel(browser, { height: 300 });
    startRun(panel.transcript, 'x').put(stdout('line\n'.repeat(500)));
    await panel.settled();
    const input = panel.page.locator('textarea');
    await input.fill('1 + 1');
    await input.press('Enter');
    await input.fill('half a li');
    await panel.page.locator('.log').hover();
    await panel.page.mouse.wheel(0, -3_000);
    await panel.page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    const top = 'document.querySelector(".log").scrollTop';
    await expect
      .poll(() => panel.page.evaluate(`JSON.parse(sessionStorage.state).scroll === ${top}`))
      .toBe(true);
    const before = await panel.page.evaluate(top);
    panel.feed.disconnect();
    await panel.page.reload();
    await panel.settled();
    expect(await input.inputValue()).toBe('half a li');
    await expect.poll(() => panel.page.evaluate(top)).toBe(before);
    await input.press('ArrowUp');
    expect(await input.inputValue()).toBe('1 + 1');
  });
});

describe('the input line', () => {
  it('runs with Enter, grows with Shift+Enter, and remembers', async () => {
    panel = await openPanel(browser);
    panel.transcript.sessionChanged([live()]);
    await panel.settled();
    const input = panel.page.getByRole('textbox', { name: 'Run code in demo' });
    await input.click();
    await panel.page.keyboard.type('for i in x:');
    const low = (await input.boundingBox())?.height ?? 0;
    await panel.page.keyboard.press('Shift+Enter');
    await panel.page.keyboard.type('print(i)');
    expect(await input.inputValue()).toBe('for i in x:\n    print(i)');
    expect((await input.boundingBox())?.height).toBeGreaterThan(low * 1.5);
    await panel.page.keyboard.press('Enter');
    await panel.page.keyboard.type('y');
    await panel.page.keyboard.press('Enter');
    await panel.page.keyboard.press('Enter');
    expect(panel.requests).toEqual([
      { type: 'run', code: 'for i in x:\n    print(i)', sessionKey: SESSION },
      { type: 'run', code: 'y', sessionKey: SESSION },
    ]);
    await panel.page.keyboard.type('draft');
    await panel.page.keyboard.press('ArrowUp');
    await panel.page.keyboard.press('ArrowUp');
    expect(await input.inputValue()).toBe('for i in x:\n    print(i)');
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.keyboard.press('ArrowDown');
    expect(await input.inputValue()).toBe('draft');
  });

  it('has one field, as wide as the panel', async () => {
    panel = await openPanel(browser);
    panel.transcript.sessionChanged([live()]);
    await panel.settled();
    expect(await panel.page.locator('.field:visible').count()).toBe(1);
    const field = await panel.page.locator('textarea').boundingBox();
    const line = await panel.page.locator('.line').boundingBox();
    expect(field?.width).toBeGreaterThan((line?.width ?? Infinity) * 0.9);
  });

  it('says why it is disabled', async () => {
    panel = await openPanel(browser);
    panel.feed.disableInput('Nothing runs until this workspace is trusted.');
    await expect.poll(() => panel.page.locator('textarea').isDisabled()).toBe(true);
    expect(await panel.page.locator('.why').innerText()).toBe(
      'Nothing runs until this workspace is trusted.',
    );
    await panel.settled();
  });

  it('is where questions are answered: text, password, end of file, interrupt', async () => {
    panel = await openPanel(browser);
    const { page, transcript } = panel;
    transcript.sessionChanged([live('busy')]);
    const run = startRun(transcript, 'ask()');
    const interrupted = new AbortController();
    const ask = (prompt: string, password = false): Promise<string | null> =>
      transcript.ask(run.id, { prompt, password, signal: interrupted.signal });
    await panel.settled();
    await page.locator('textarea').fill('a draft');
    await page.locator('textarea').focus();

    const name = ask('Name? ');
    await page.getByLabel('Name?').waitFor();
    await page.keyboard.type('Ada');
    await page.keyboard.press('Enter');
    expect(await name).toBe('Ada');

    const secret = ask('Password: ', true);
    const field = page.getByLabel('Password:');
    await field.waitFor();
    expect(await field.getAttribute('type')).toBe('password');
    await page.keyboard.type('hunter2');
    await page.keyboard.press('Enter');
    expect(await secret).toBe('hunter2');

    const end = ask('More? ');
    await page.getByLabel('More?').waitFor();
    await page.keyboard.press('Control+d');
    expect(await end).toBeNull();

    const last = ask('Last? ');
    await page.getByLabel('Last?').waitFor();
    await page.keyboard.press('Escape');
    await expect
      .poll(() => panel.requests.at(-1))
      .toEqual({ type: 'interrupt', sessionKey: SESSION });
    interrupted.abort();
    expect(await last).toBeNull();

    await page.locator('textarea').waitFor();
    expect(await page.locator('textarea').inputValue()).toBe('a draft');
    expect(await page.locator('.output').innerText()).toContain('Name? Ada');
    expect(await page.locator('body').innerText()).not.toContain('hunter2');
    await panel.settled();
  });

  it('everything is reached by keyboard, with a visible focus', async () => {
    panel = await openPanel(browser);
    panel.transcript.sessionChanged([live('busy')]);
    startRun(panel.transcript, 'x', { source: { file: '/a/b.py', line: 1 } }).put(stdout('out\n'));
    await panel.settled();
    const names: string[] = [];
    for (let i = 0; i < 8; i++) {
      await panel.page.keyboard.press('Tab');
      names.push(
        await panel.page.evaluate(`(() => {
          const e = document.activeElement;
          const style = getComputedStyle(e);
          const marked = style.outlineStyle !== 'none' || style.boxShadow !== 'none' ||
            style.borderColor !== 'rgba(0, 0, 0, 0)' || e.closest('.line') !== null;
          return (e.getAttribute('aria-label') ?? e.textContent) + (marked ? '' : ' (unmarked)');
        })()`),
      );
    }
    expect(names).toEqual([
      'Session',
      'Interrupt what runs',
      'Show the helpers of the prelude',
      'Clear the transcript',
      'Transcript',
      'b.py:1',
      'Copy output',
      'Run code in demo',
    ]);
  });
});

const report = (what: string, { longestMs, totalMs }: TaskTimes): void => {
  const cpu = `longest task ${longestMs.toFixed(0)} ms, all tasks ${totalMs.toFixed(0)} ms of CPU`;
  process.stdout.write(`${what}: ${cpu}\n`);
};

describe('a flood', () => {
  it.each([
    ['plain', (i: number) => `line ${i} of what a long computation says while it runs\n`],
    [
      'coloured',
      (i: number) =>
        `\x1b[32mline\x1b[0m ${i} \x1b[1;34mof\x1b[0m what \x1b[38;5;208ma long\x1b[0m run says\n`,
    ],
  ])('of 10,000 %s chunks is on the screen soon, and nothing blocks', async (kind, line) => {
    panel = await openPanel(browser);
    await panel.settled();
    const run = startRun(panel.transcript, 'flood()');
    await panel.settled();
    let paintedMs = 0;
    const tasks = await measureTasks(browser, panel.page, async () => {
      const began = performance.now();
      for (let i = 0; i < 10_000; i++) run.put(stdout(line(i)));
      await panel.settled();
      paintedMs = performance.now() - began;
    });
    report(`10,000 ${kind} chunks painted in ${paintedMs.toFixed(0)} ms`, tasks);
    const text = await panel.page.evaluate('document.querySelector(".output").textContent');
    expect((text as string).match(/\n/g)).toHaveLength(10_000);
    expect(tasks.longestMs).toBeLessThan(200);
  });

  it('of 1,000,000 lines: bounded, counted, live', async () => {
    panel = await openPanel(browser);
    const run = startRun(panel.transcript, 'for i in range(1_000_000): print(i)');
    await panel.settled();
    const lines = Array.from({ length: 1_000_000 }, (_, i) => `${i}\n`).join('');
    const tasks = await measureTasks(browser, panel.page, async () => {
      for (let at = 0; at < lines.length; at += 65_536) {
        run.put(stdout(lines.slice(at, at + 65_536)));
        await new Promise((resolve) => setImmediate(resolve));
      }
      run.end();
      await panel.settled();
    });
    report('1,000,000 lines', tasks);
    expect(tasks.longestMs).toBeLessThan(200);
    const { page } = panel;
    const text = (await page.locator('.block').allTextContents()).join('');
    expect(text.startsWith('0\n1\n')).toBe(true);
    expect(text.endsWith('\n999998\n999999\n')).toBe(true);
    const gaps = await page.locator('.gap').allInnerTexts();
    const leftOut = gaps.map((gap) => /^… ([\d,]+) of 1,000,000 lines left out$/.exec(gap)?.[1]);
    const missing = leftOut.reduce((sum, n) => sum + Number(n?.replaceAll(',', '')), 0);
    const shown = text.split('\n').filter((row) => /^\d+$/.test(row)).length;
    expect(missing + shown).toBe(1_000_000);
    panel.feed.disconnect();
    await page.reload();
    await panel.settled();
    expect(await page.locator('.gap').count()).toBe(1);
    expect(shown).toBeLessThan(30_000);
    await shoot('flood');
  });
});
