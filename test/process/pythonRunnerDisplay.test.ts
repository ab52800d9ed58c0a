import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunnerProcess } from '../support/runnerProcess';

const interpreter = process.env['HOLDFAST_TEST_PYTHON'] ?? 'python3';
/** An interpreter with matplotlib, where there is one. */
const plotting = process.env['HOLDFAST_TEST_PLOTTING_PYTHON'] ?? interpreter;
const has = (module: string) => spawnSync(plotting, ['-c', `import ${module}`]).status === 0;

let runner: RunnerProcess;
beforeAll(async () => {
  runner = await RunnerProcess.start({ interpreter });
});
afterAll(() => runner.stop());

describe('displays of the Python runner', () => {
  it('a value offers every form that its class has, text always among them', async () => {
    const run = await runner.run(`class Rich:
    def __repr__(self): return 'rich'
    def _repr_html_(self): return '<b>rich</b>'
    def _repr_markdown_(self): return '**rich**'
    def _repr_svg_(self): return '<svg/>'
    def _repr_png_(self): return b'\\x89PNG', {'width': 3}
    def _repr_jpeg_(self): return None
    def _repr_latex_(self): return '$r$'
    def _repr_json_(self): return {'a': [1, 2.5, None, float('nan'), True], 3: 'é\\ud800'}
Rich()`);
    expect(run.frames('result')[0]).toMatchObject({
      data: {
        'text/plain': 'rich',
        'text/html': '<b>rich</b>',
        'text/markdown': '**rich**',
        'image/svg+xml': '<svg/>',
        'image/png': Buffer.from('\x89PNG', 'latin1').toString('base64'),
        'text/latex': '$r$',
        'application/json': { a: [1, 2.5, null, null, true], '3': 'é\ud800' },
      },
      metadata: { 'image/png': { width: 3 } },
    });
    expect(run.frames('result')[0]?.data).not.toHaveProperty('image/jpeg');
    expect((await runner.run('Rich')).frames('result')[0]?.data).toEqual({
      'text/plain': "<class '__main__.Rich'>",
    });
  });

  it('_repr_mimebundle_ goes before the single forms', async () => {
    const run = await runner.run(`class Bundle:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {'text/html': 'bundle', 'image/png': b'png'}, {'text/html': {'isolated': True}}
    def _repr_html_(self): return 'single'
display(Bundle())`);
    expect(run.frames('display')[0]).toMatchObject({
      data: { 'text/html': 'bundle', 'image/png': 'cG5n' },
      metadata: { 'text/html': { isolated: true } },
    });
  });

  it('a form that raises is named in the text, and loses nothing', async () => {
    const run = await runner.run(`class Broken:
    def __repr__(self): return 'broken'
    def _repr_html_(self): raise ValueError('no html')
    def _repr_latex_(self): return '$x$'
Broken()`);
    expect(run.frames('result')[0]?.data).toEqual({
      'text/plain': 'broken\n[_repr_html_ raised ValueError: no html]',
      'text/latex': '$x$',
    });
    expect(run.done.status).toBe('ok');
  });

  it('display() shows several things in order with what is printed', async () => {
    const run = await runner.run("print('a'); display(1, 'b'); print('c')");
    expect(run.heard.map((item) => item.op)).toEqual([
      'begun',
      'stream',
      'display',
      'display',
      'stream',
      'done',
    ]);
    expect(run.frames('display').map((frame) => frame.data['text/plain'])).toEqual(['1', "'b'"]);
  });

  it('a display with an id can be changed later', async () => {
    const run = await runner.run(
      "h = display('old', display_id='d'); h.update('new'); display('newer', display_id='d', update=True); display(1, display_id=True)",
    );
    expect(run.frames('display')).toMatchObject([
      { displayId: 'd', data: { 'text/plain': "'old'" } },
      { displayId: 'd', update: true, data: { 'text/plain': "'new'" } },
      { displayId: 'd', update: true, data: { 'text/plain': "'newer'" } },
      { displayId: expect.stringMatching(/^[0-9a-f]{16}$/) as string },
    ]);
    expect(run.result).toMatch(/DisplayHandle/);
  });

  it('raw data by MIME type, and clear_output', async () => {
    const run = await runner.run(
      "display({'text/html': '<i>', 'image/png': b'x'}, raw=True); clear_output(); clear_output(wait=True)",
    );
    expect(run.frames('display')[0]?.data).toEqual({ 'text/html': '<i>', 'image/png': 'eA==' });
    expect(run.frames('clear').map((frame) => frame.wait)).toEqual([false, true]);
  });

  it('a display of more than 32 MiB is a note', async () => {
    const run = await runner.run("display({'text/html': 'x' * (33 << 20)}, raw=True)");
    expect(run.frames('display')[0]?.data).toEqual({
      'text/plain': '(not shown: 33 MiB of text/html)',
    });
  });

  it.skipIf(!has('IPython'))(
    'IPython’s display functions lead here where it is installed',
    async () => {
      const own = await RunnerProcess.start({ interpreter: plotting });
      const run =
        await own.run(`from IPython.display import display as show, HTML, clear_output as clear
show(HTML('<b>x</b>')); clear(wait=True)
HTML('<i>y</i>')`);
      await own.stop();
      expect(run.frames('display')[0]?.data['text/html']).toBe('<b>x</b>');
      expect(run.frames('clear')).toHaveLength(1);
      expect(run.frames('result')[0]?.data['text/html']).toBe('<i>y</i>');
      expect(run.text()).toBe('');
    },
  );
});

describe.skipIf(!has('matplotlib'))(
  'matplotlib in the Python runner (where it is installed)',
  () => {
    let own: RunnerProcess;
    beforeAll(async () => {
      own = await RunnerProcess.start({ interpreter: plotting });
    });
    afterAll(() => own.stop());

    const isPng = (data: unknown) =>
      typeof data === 'string' && Buffer.from(data, 'base64').subarray(1, 4).toString() === 'PNG';

    it('figures are pictures at the end of the run, each once', async () => {
      const run = await own.run(`import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.figure(); plt.plot([2, 1]); print('drawn')`);
      expect(run.error?.traceback).toBeUndefined();
      expect(run.frames('display').map((frame) => isPng(frame.data['image/png']))).toEqual([
        true,
        true,
      ]);
      expect(run.text('stderr')).toBe('');
      expect((await own.run('plt.get_fignums()')).result).toBe('[]');
    }, 60_000);

    it('plt.show() shows what is there, in order', async () => {
      const run = await own.run(
        "plt.plot([1]); plt.show(); print('between'); plt.plot([2]); plt.show()",
      );
      expect(run.heard.map((item) => item.op)).toEqual(['display', 'stream', 'display', 'done']);
      expect(run.text('stderr')).toBe('');
    });

    it('a figure as the value is shown once', async () => {
      const run = await own.run('figure, axes = plt.subplots()\nfigure');
      expect(isPng(run.frames('result')[0]?.data['image/png'])).toBe(true);
      expect(run.frames('display')).toEqual([]);
    });

    it('a figure that cannot be drawn is told in place', async () => {
      const run = await own.run("plt.title('$\\\\frac{$');");
      expect(run.frames('display')[0]?.data['text/plain']).toMatch(/savefig raised ValueError/);
      expect(run.done.status).toBe('ok');
    });

    it('a backend that was asked for is left alone', async () => {
      const other = await RunnerProcess.start({
        interpreter: plotting,
        env: { MPLBACKEND: 'svg' },
      });
      const run = await other.run(
        'import matplotlib.pyplot as plt\nplt.plot([1]); plt.get_backend().lower()',
      );
      await other.stop();
      expect(run.result).toBe("'svg'");
      expect(run.frames('display')).toEqual([]);
    }, 60_000);
  },
);
