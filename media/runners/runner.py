"""Holdfast's Python runner: one plain interpreter, held as a session.

Started as `python -u -X utf8 runner.py` in a process group of its own, with four descriptors beside an empty stdin:

    1, 2   what subprocesses and C code print; the host reads them as bytes
    3      control frames from the host: execute, input, interrupt, exit
    4      frames to the host: ready, begun, stream, display, result, error, clear, input, done

A frame is a 4-byte big-endian length and as many bytes of JSON in pure ASCII, so that lone surrogates survive. Every
`execute` is answered by `begun`, from when on an interrupt ends it, and exactly one `done`, after all that the run put
out; what its threads print later still carries its id. The descriptors of the frames are moved away and never
inherited: nothing that user code starts can forge one.

User code runs on the main thread, in a fresh `__main__`. Two threads of ours stand beside it: one reads the control
descriptor (its end means that the host is gone, and ends the whole process group), the other sends text that has
waited long enough. Only what a start needs is imported here, and some of it from the C modules directly: `json`,
`signal` and `threading` would cost a third of the time until `ready`.

Code that awaits at its top level runs in one event loop, which lives as long as the session. Between such runs the loop
stands still: tasks that were left in it go on with the next `await`.

One file, standard library only, Python 3.8 and newer.
"""

import _ast
import _signal
import _thread
import atexit
import builtins
import faulthandler
import io
import os
import sys
from _contextvars import ContextVar
from _json import encode_basestring_ascii as quote, make_scanner
from _queue import SimpleQueue
from _thread import get_ident
from time import monotonic, sleep

try:
    from fcntl import F_DUPFD_CLOEXEC, fcntl, ioctl
except ImportError:  # Windows
    fcntl = ioctl = None

RUNNER = __file__
PID = os.getpid()
MAIN_THREAD = get_ident()

SLICE = 32 * 1024  # characters in one stream frame: at most 64 Ki UTF-16 units
LONG_TEXT = 1024 * 1024  # a longer print is sent in pieces, so that it can be interrupted
LONG_REPR = 1024 * 1024
LARGEST_DISPLAY = 32 * 1024 * 1024
LONG_TRACEBACK = 64 * 1024
TEXT_WAITS = 0.005  # seconds that text may wait to be sent together with what follows
SENDS_AT_ONCE = 24  # newlines and flushes that are sent without waiting, until a flood has used them up
SENDS_PER_SECOND = 200  # how fast these come back
HOST_READS_WITHIN = 0.25  # seconds to wait for the host to have read what was written before
SIOCOUTQ = 0x5411  # Linux: bytes of a socket that its peer has not read

# Taken before user code (or this file) can replace them.
os_write, os_kill, os_exit = os.write, os.kill, os._exit
start_new_thread = _thread.start_new_thread


# --- Signals ---------------------------------------------------------------------------------------------------------


class Shield:
    """Holds Python's signal handlers back while the main thread is inside: a frame is written whole or not at all."""

    def __init__(self):
        self.depth = 0
        self.held_back = {}  # handler by signal: like the system's own, several of one kind are one

    def __enter__(self):
        if get_ident() == MAIN_THREAD:
            self.depth += 1

    def __exit__(self, *exc_info):
        if get_ident() == MAIN_THREAD:
            self.depth -= 1
            while self.held_back and not self.depth:
                signum, handler = self.held_back.popitem()
                handler(signum, sys._getframe(1))


shield = Shield()
set_real_handler, get_real_handler = _signal.signal, _signal.getsignal


def shielded(handler):
    """The handler as it is given to the interpreter: one that waits for the shield."""
    if not callable(handler) or hasattr(handler, "holdfast_handler"):
        return handler

    def wait_for_shield(signum, frame):
        if shield.depth:
            shield.held_back[signum] = handler
        else:
            handler(signum, frame)

    wait_for_shield.holdfast_handler = handler
    return wait_for_shield


def set_handler(signalnum, handler, /):
    previous = set_real_handler(signalnum, shielded(handler))
    return getattr(previous, "holdfast_handler", previous)


def get_handler(signalnum, /):
    handler = get_real_handler(signalnum)
    return getattr(handler, "holdfast_handler", handler)


class Interrupts:
    """SIGINT raises KeyboardInterrupt in user code, and does nothing while there is none."""

    def __init__(self):
        self.active = False
        self.came_late = False

    def on_sigint(self, signum, frame):
        if not self.active:
            return
        if frame is not None and frame.f_code is attempt.__code__:
            self.came_late = True  # Between user code and us: `attempt` itself must not be torn.
        else:
            raise KeyboardInterrupt

    def listen(self):
        if get_handler(_signal.SIGINT) != self.on_sigint:
            set_handler(_signal.SIGINT, self.on_sigint)


interrupts = Interrupts()


def attempt(action):
    """Calls user code. Gives (value, None) or (None, what it raised); an interrupt cannot hit anything else."""
    value = problem = None
    interrupts.came_late = False
    try:
        interrupts.active = True
        value = action()
    except BaseException as error:
        problem = error
    interrupts.active = False
    if interrupts.came_late and problem is None:
        problem = KeyboardInterrupt()
    return value, problem


# --- Which run output belongs to -------------------------------------------------------------------------------------

# A thread belongs to the run that started it. Contexts refine that: an asyncio task or a job of an executor belongs to
# the run that created it, on whatever thread it goes on. None: no known run, the session's.
BY_THREAD = object()
context_run = ContextVar("holdfast_run", default=BY_THREAD)
thread_runs = {}


def current_run():
    run = context_run.get()
    return thread_runs.get(get_ident()) if run is BY_THREAD else run


def in_current_run(function):
    """The function, to be called on another thread in the name of the run that is current now."""
    run = current_run()

    def call(*args, **kwargs):
        token = context_run.set(run)
        try:
            return function(*args, **kwargs)
        finally:
            context_run.reset(token)

    return call


def thread_of_current_run(function):
    run = current_run()

    def call(*args, **kwargs):
        thread_runs[get_ident()] = run
        try:
            return function(*args, **kwargs)
        finally:
            thread_runs.pop(get_ident(), None)

    return call


def inherit_runs_in_threads():
    """Every way to a thread leads through these two functions; `threading` keeps names of its own for them."""
    for name in ("start_new_thread", "start_joinable_thread", "start_new"):
        original = getattr(_thread, name, None)
        if original is None:
            continue

        def start(function, *args, original=original, **kwargs):
            return original(thread_of_current_run(function), *args, **kwargs)

        setattr(_thread, name, disguised(start, original))
        threading = sys.modules.get("threading")
        if threading is not None and hasattr(threading, "_" + name):
            setattr(threading, "_" + name, start)


def inherit_runs_in_executors(module):
    executor = module.ThreadPoolExecutor
    original = executor.submit

    def submit(self, fn, /, *args, **kwargs):
        return original(self, in_current_run(fn), *args, **kwargs)

    executor.submit = disguised(submit, original)


# --- Frames ----------------------------------------------------------------------------------------------------------


def encode(value):
    """JSON in ASCII of plain data. What JSON has no form for becomes text, so that a frame is always valid."""
    if isinstance(value, str):
        return quote(value)
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value) if value - value == 0 else "null"
    if isinstance(value, dict):
        return "{" + ",".join(quote(str(key)) + ":" + encode(item) for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(encode, value)) + "]"
    return quote(str(value))


class DecoderSettings:
    """What `json.JSONDecoder` tells its scanner."""

    strict = False
    object_hook = object_pairs_hook = array_hook = None
    parse_float, parse_int, parse_constant = float, int, float


scan = make_scanner(DecoderSettings)


class Outlet:
    """Everything that goes to the host, in the order in which it was put out.

    Text is coalesced: newlines and flushes are sent at once while they are few, else after 5 ms or 32 Ki characters.
    Writes block, so a slow host slows the code down instead of filling memory.
    """

    def __init__(self, fd):
        self.fd = fd
        self.lock = _thread.RLock()  # Re-entrant: a signal handler or a finalizer may print inside.
        self.stream = None  # whose text is in `parts`, and of which run
        self.run = None
        self.parts = []
        self.size = 0
        self.outbox = bytearray()  # whole frames, not yet written
        self.sending = False
        self.flooded = False  # newlines have to wait
        self.allowance = SENDS_AT_ONCE
        self.allowed_at = monotonic()
        self.timer = _thread.allocate_lock()  # released: text waits
        self.timer.acquire()
        self.timer_runs = False
        self.closing = False
        self.holding = False  # the run's end is near: what comes goes with it
        self.impatient_until = 0.0

    # The methods below are called with the lock held.

    def turn_to(self, stream, run):
        with shield:
            self.seal()
            self.stream, self.run = stream, run

    def text_came(self, text):
        if self.size >= SLICE or self.closing:
            self.flush()
        elif not text.endswith("\n"):
            self.start_timer()
        elif self.may_send_at_once():
            self.flush()
        else:
            self.flooded = True
            self.start_timer()

    def may_send_at_once(self):
        now = monotonic()
        self.allowance = min(SENDS_AT_ONCE, self.allowance + (now - self.allowed_at) * SENDS_PER_SECOND)
        self.allowed_at = now
        if self.allowance < 1:
            return False
        self.allowance -= 1
        return True

    def start_timer(self):
        with shield:  # A handler that prints between the look and the release would do both as well.
            if not self.timer_runs:
                self.timer_runs = True
                self.timer.release()

    def flush(self):
        with shield:
            self.seal()
            self.drain()

    def seal(self):
        """Makes frames of the text so far, which stays until they are whole: any call can fail deep in a recursion."""
        if not self.parts:
            return
        text = "".join(self.parts)
        head = '{"op":"stream","run":%s,"name":"%s","text":' % (encode(self.run), self.stream.stream_name)
        frames = [frame_of(head + quote(text[at : at + SLICE]) + "}") for at in range(0, len(text), SLICE)]
        frames = b"".join(frames)
        self.parts.clear()
        self.size = 0
        self.outbox += frames
        if len(self.outbox) > 2 * SLICE:
            self.drain()

    def drain(self):
        if self.sending:
            return  # Called from inside: the loop below goes on with what came.
        self.sending = True
        frames = b""
        try:
            while self.outbox or self.parts:
                self.seal_more()
                self.await_host(1, 2)
                if os.getpid() != PID:  # A fork that went past Python's own.
                    return
                frames, self.outbox = self.outbox, bytearray()
                while frames:
                    del frames[: os_write(self.fd, frames)]
        except OSError as error:
            end_group("the frames' descriptor is broken (%s)" % error)
        finally:
            if frames:
                self.outbox[:0] = frames
            self.sending = False

    def seal_more(self):
        if not self.outbox:
            self.seal()

    def await_host(self, *fds):
        """Waits until the host has read these descriptors, where that can be told: so it sees things in order."""
        if ioctl is None or sys.platform != "linux" or monotonic() < self.impatient_until:
            return
        pause, deadline = 0.0, None
        while any(map(unread_bytes, fds)):
            now = monotonic()
            if deadline is None:
                deadline = now + HOST_READS_WITHIN
            elif now > deadline:  # Something prints without end there; order is lost anyway.
                self.impatient_until = now + 1
                return
            sleep(pause)
            pause = min(pause + 0.00005, 0.002)

    # These take the lock themselves.

    def emit(self, json, at_once=False):
        """Sends a frame, after the text before it."""
        frame = frame_of(json)
        with self.lock, shield:
            self.seal()
            self.outbox += frame
            if at_once or not self.holding:
                self.drain()

    def settle(self):
        """Makes sure that what comes on descriptors 1 and 2 from now on is read after the frames so far."""
        with self.lock, shield:
            self.flush()
            self.await_host(self.fd)

    def send_late_text(self):
        """Life of the thread that sends text which has waited long enough."""
        while True:
            self.timer.acquire()
            sleep(TEXT_WAITS)
            with self.lock:
                self.timer_runs = self.flooded = False
                self.flush()

    def close(self):
        """Nothing waits from now on: at the interpreter's end the timer's thread is gone."""
        with self.lock:
            self.closing = True
            self.flooded = False
            self.flush()


def frame_of(json):
    return len(json).to_bytes(4, "big") + json.encode("ascii")


def unread_bytes(fd):
    try:
        return any(ioctl(fd, SIOCOUTQ, b"\0\0\0\0"))
    except OSError:  # Closed, or redirected to something that cannot tell.
        return False


def move_away(fd):
    """The descriptor under a high number, closed in programs that are started."""
    try:
        moved = fcntl(fd, F_DUPFD_CLOEXEC, 200)
    except (TypeError, OSError):  # Windows; a low limit of descriptors
        moved = os.dup(fd)
    os.close(fd)
    return moved


control_fd = move_away(3)
outlet = Outlet(move_away(4))


def end_group(reason=None):
    """The host is gone, or cannot be spoken to: nothing may be left behind."""
    if reason is not None:
        os_write(2, ("Holdfast's runner ends: %s.\n" % reason).encode("utf-8", "replace"))
    if hasattr(os, "getpgrp"):
        if os.getpgrp() == PID:
            os_kill(-PID, _signal.SIGKILL)
        os_kill(PID, _signal.SIGKILL)
    os_exit(1)


# --- sys.stdout and sys.stderr ---------------------------------------------------------------------------------------


class Stream(io.TextIOBase):
    """A text stream to the host. In a forked child it is a plain, line-buffered writer on descriptor 1 or 2."""

    encoding = "utf-8"
    errors = "surrogateescape"
    newlines = None
    mode = "w"
    line_buffering = True
    write_through = False
    closed = False

    def __init__(self, name, fd):
        self.stream_name = name
        self.name = "<%s>" % name
        self.fd = fd
        self.buffer = StreamBuffer(self)
        self.held = ""  # of a forked child

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not " + type(text).__name__)
        size = len(text)
        if size > LONG_TEXT:
            for start in range(0, size, LONG_TEXT):
                self.write(text[start : start + LONG_TEXT])
            return size
        run = context_run.get()
        if run is BY_THREAD:
            run = thread_runs.get(get_ident())
        with outlet.lock:
            if outlet.stream is not self or outlet.run != run:
                outlet.turn_to(self, run)
            outlet.parts.append(text)
            outlet.size += size
            if outlet.size >= SLICE or not outlet.flooded:
                outlet.text_came(text)
        return size

    def flush(self):
        with outlet.lock:
            if outlet.parts or outlet.outbox:
                if outlet.may_send_at_once():
                    outlet.flush()
                else:
                    outlet.start_timer()

    def write_plainly(self, text):
        with outlet.lock:
            self.held += text
            if "\n" in text or len(self.held) > SLICE:
                self.flush_plainly()
        return len(text)

    def flush_plainly(self):
        with outlet.lock:
            rest, self.held = memoryview(self.held.encode("utf-8", "backslashreplace")), ""
            while rest:
                rest = rest[os_write(self.fd, rest) :]

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def reconfigure(self, **settings):
        self.flush()

    def fileno(self):
        return self.fd

    def isatty(self):
        return False

    def readable(self):
        return False

    def writable(self):
        return True

    def seekable(self):
        return False

    def close(self):
        self.flush()

    def detach(self):
        raise io.UnsupportedOperation("the session's streams have no layer below")


class StreamBuffer(io.BufferedIOBase):
    """`sys.stdout.buffer`: bytes, decoded as they come."""

    closed = False
    mode = "wb"

    def __init__(self, stream):
        self.stream = stream
        self.name = stream.name
        self.raw = self
        self.decoder = None

    def write(self, data):
        if isinstance(data, str):
            raise TypeError("a bytes-like object is required, not 'str'")
        if self.decoder is None:
            from codecs import getincrementaldecoder

            self.decoder = getincrementaldecoder("utf-8")("replace")
        data = memoryview(data).cast("B")
        for start in range(0, len(data), LONG_TEXT):
            self.stream.write(self.decoder.decode(bytes(data[start : start + LONG_TEXT])))
        return len(data)

    def flush(self):
        self.stream.flush()

    def close(self):
        self.flush()

    def fileno(self):
        return self.stream.fd

    def isatty(self):
        return False

    def writable(self):
        return True


# --- Forks, and other ways past the streams --------------------------------------------------------------------------


def in_child():
    return os.getpid() != PID


def before_fork():
    outlet.lock.acquire()
    outlet.settle()
    quiet_fork_warning()


def after_fork_in_child():
    """Frames are the parent's alone."""
    outlet.lock = _thread.RLock()
    outlet.parts.clear()
    outlet.size = 0
    for fd in (outlet.fd, control_fd):
        try:
            os.close(fd)
        except OSError:
            pass  # The user's code closed it.
    Stream.write, Stream.flush = Stream.write_plainly, Stream.flush_plainly


def quiet_fork_warning():
    """Python 3.12 warns of a fork beside threads. Ours do not matter to a child, and the user's still are warned of."""
    threading = sys.modules.get("threading")
    if sys.version_info >= (3, 12) and (threading is None or threading.active_count() == 1):
        import warnings

        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)


def disguised(replacement, original):
    """Makes a replacement look (and pickle) like what it stands for."""
    for name in ("__name__", "__qualname__", "__doc__"):
        setattr(replacement, name, getattr(original, name, None))
    replacement.__module__ = getattr(original, "__module__", None)
    return replacement


def settle_before(owner, name, applies=lambda *args: True):
    """Has what was printed so far reach the host before a function that prints past us, or ends the process."""
    original = getattr(owner, name, None)
    if original is None:
        return

    def call(*args, **kwargs):
        if applies(*args):
            if in_child():
                flush_streams()
            else:
                outlet.settle()
        return original(*args, **kwargs)

    setattr(owner, name, disguised(call, original))
    if owner is os:
        call.__module__ = "os"


def flush_streams():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, ValueError, OSError):
            pass  # Replaced by the user's code with something that is no open stream.


def goes_to_the_host(fd=None, *rest):
    return fd in (1, 2)


def settle_before_bypasses():
    settle_before(os, "write", goes_to_the_host)
    settle_before(os, "writev", goes_to_the_host)
    ways_out = "system posix_spawn posix_spawnp spawnv spawnve execv execve kill killpg abort _exit"
    for name in ways_out.split():
        settle_before(os, name)


# --- After an import -------------------------------------------------------------------------------------------------


class AfterImport:
    """A finder that acts on some modules right after their import, so that we import none of them."""

    def __init__(self):
        self.actions = {}

    def watch(self, name, action):
        if name in sys.modules:
            action(sys.modules[name])
        else:
            self.actions[name] = action

    def find_spec(self, name, path=None, target=None):
        if name not in self.actions:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec is not None:
                break
        else:
            return None
        loader = spec.loader
        if isinstance(loader, type) or not hasattr(loader, "exec_module"):
            return spec
        load = loader.exec_module

        def exec_module(module):
            del loader.exec_module
            load(module)
            action = self.actions.pop(name, None)
            if action is not None:
                action(module)

        loader.exec_module = exec_module
        return spec


after_import = AfterImport()


# --- Input -----------------------------------------------------------------------------------------------------------


class StdinUnavailable(EOFError):
    """Input was asked for where nobody can answer."""


class Questions:
    """`input()` and its kin: one question at a time, answered through the control descriptor."""

    def __init__(self):
        self.lock = _thread.allocate_lock()
        self.answers = SimpleQueue()
        self.run = None  # the run for which somebody can answer
        self.refused = False

    def ask(self, prompt="", password=False):
        run = current_run()
        if in_child():
            raise StdinUnavailable("input() does not reach the session from a child process")
        if run is None or run != self.run:
            self.refused = True
            raise StdinUnavailable("the code asked for input, but nobody can answer it in this run")
        with self.lock:
            while not self.answers.empty():
                self.answers.get()  # came too late for a question that was interrupted
            outlet.emit(encode({"op": "input", "run": run, "prompt": prompt, "password": password}))
            answered = None
            while answered != run:
                answered, text = self.answers.get()
                if self.run != run:
                    raise StdinUnavailable("the run that asked for input is over")
        if text is None:
            raise EOFError("end of input")
        return text


    def close(self):
        """The run is over: a thread of it that still waits must not stand in the way of the next one's questions."""
        self.run = None
        if self.lock.locked():
            self.answers.put((None, None))


questions = Questions()


def ask_for_input(prompt="", /):
    """Read a string from standard input, which in this session is the person who is asked."""
    return questions.ask(str(prompt))


def ask_for_password(prompt="Password: ", stream=None, **options):
    """Prompt for a password, which is not shown."""
    return questions.ask(str(prompt), password=True)


class Stdin(io.TextIOBase):
    """`sys.stdin`: each line is a question without words."""

    encoding = "utf-8"
    errors = "strict"
    name = "<stdin>"
    mode = "r"
    closed = False

    def __init__(self):
        self.rest = ""
        self.buffer = StdinBuffer(self)

    def readline(self, size=-1, /):
        line = self.rest
        if not line:
            try:
                line = questions.ask() + "\n"
            except StdinUnavailable:
                raise
            except EOFError:
                return ""
        end = len(line) if size is None or size < 0 else size
        self.rest = line[end:]
        return line[:end]

    def read(self, size=-1, /):
        if size is not None and size >= 0:
            return self.readline(size)
        return "".join(iter(self.readline, ""))

    def fileno(self):
        return 0

    def isatty(self):
        return False

    def readable(self):
        return True

    def close(self):
        """exit() closes stdin; the next run still needs it."""


class StdinBuffer(io.BufferedIOBase):
    closed = False

    def __init__(self, stdin):
        self.stdin = stdin

    def readline(self, size=-1, /):
        return self.stdin.readline(size).encode("utf-8", "surrogateescape")

    def read(self, size=-1, /):
        return self.stdin.read(size).encode("utf-8", "surrogateescape")

    def readable(self):
        return True

    def close(self):
        pass


# --- Displays --------------------------------------------------------------------------------------------------------

RICH_METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
)


def text_of(error):
    try:
        return str(error)
    except Exception:
        return "<its text cannot be shown>"


def plain_text(value):
    try:
        text = repr(value)
    except Exception as error:
        kind = type(value)
        return "<%s object at %#x: its repr raised %s: %s>" % (
            kind.__qualname__,
            id(value),
            type(error).__name__,
            text_of(error),
        )
    if len(text) > LONG_REPR:
        return "%s… (%d more characters)" % (text[:LONG_REPR], len(text) - LONG_REPR)
    return text


def base64_text(data):
    from binascii import b2a_base64

    return b2a_base64(data, newline=False).decode("ascii")


def rich_forms(value):
    """Yields (method's name, MIME type or None for a bundle, method) of what the value's class offers."""
    kind = type(value)
    for name, mime in (("_repr_mimebundle_", None),) + RICH_METHODS:
        if not isinstance(value, type) and callable(getattr(kind, name, None)):
            yield name, mime, getattr(value, name)
    figure = sys.modules.get("matplotlib.figure")
    if figure is not None and isinstance(value, getattr(figure, "Figure", ())):
        yield "savefig", "image/png", lambda: figure_png(value)


def bundle_of(value):
    """(data, metadata) of a value by MIME type. Text is always there; a form that raises is named in it."""
    data, metadata, notes = {}, {}, []
    for name, mime, form in rich_forms(value):
        try:
            given = form(include=None, exclude=None) if mime is None else form()
            extra = {}
            if isinstance(given, tuple):
                given, extra = given
            if mime is None:
                data.update(given or {})
                metadata.update(extra or {})
            elif given is not None and mime not in data:
                data[mime] = given
                if extra:
                    metadata[mime] = extra
        except Exception as error:
            notes.append("[%s raised %s: %s]" % (name, type(error).__name__, text_of(error)))
    if "text/plain" not in data or notes:
        data["text/plain"] = "\n".join([str(data.get("text/plain") or plain_text(value))] + notes)
    return json_bundle(data), metadata


def json_bundle(data):
    """Binary data as base64."""
    return {
        str(mime): base64_text(item) if isinstance(item, (bytes, bytearray, memoryview)) else item
        for mime, item in data.items()
    }


def emit_bundle(op, data, metadata, **more):
    if in_child():
        print(data.get("text/plain", ""))
        return
    frame = dict(more, op=op, run=current_run(), data=data, metadata=metadata)
    json = encode(frame)
    if len(json) > LARGEST_DISPLAY:
        note = "(not shown: %d MiB of %s)" % (len(json) >> 20, ", ".join(data))
        json = encode(dict(frame, data={"text/plain": note}, metadata={}))
    outlet.emit(json)


class DisplayHandle:
    """A display that can be changed in place."""

    def __init__(self, display_id=None):
        self.display_id = display_id or os.urandom(8).hex()

    def __repr__(self):
        return "<DisplayHandle display_id=%s>" % self.display_id

    def display(self, obj, **options):
        display(obj, display_id=self.display_id, **options)

    def update(self, obj, **options):
        display(obj, display_id=self.display_id, update=True, **options)


def display(*objs, raw=False, metadata=None, display_id=None, update=False, clear=False, **options):
    """Show objects in the richest form that they have: a picture, HTML, text.

    With `display_id` (True for a new one) the display can be changed later: through the handle that is returned, or by
    another call with the same id and `update=True`. With `raw=True` the objects are dicts of data by MIME type.
    """
    if clear:
        clear_output(wait=True)
    handle = None
    if display_id is not None and display_id is not False:
        handle = DisplayHandle(None if display_id is True else str(display_id))
    elif update:
        raise TypeError("display() needs a display_id to update")
    for obj in objs:
        data, extra = (json_bundle(obj), {}) if raw else bundle_of(obj)
        more = {"displayId": handle.display_id} if handle else {}
        if update:
            more["update"] = True
        emit_bundle("display", data, dict(extra, **(metadata or {})), **more)
        forget_figure(obj)
    return handle


def update_display(obj, *, display_id, **options):
    """Change a display in place."""
    display(obj, display_id=display_id, update=True, **options)


def publish_display_data(data, metadata=None, *, transient=None, update=False, **options):
    """Show data by MIME type."""
    display_id = (transient or {}).get("display_id")
    display(data, raw=True, metadata=metadata, display_id=display_id, update=update)


def clear_output(wait=False):
    """Forget the run's output so far: at once, or when the next one comes."""
    if not in_child():
        outlet.emit(encode({"op": "clear", "run": current_run(), "wait": bool(wait)}))


def show_result(value, /):
    """Shows the value of a run's last expression, and keeps it as `_`."""
    if value is None:
        return
    builtins._ = value
    data, metadata = bundle_of(value)
    emit_bundle("result", data, metadata)
    forget_figure(value)


def route_ipython_displays(module):
    for function in (display, update_display, publish_display_data, clear_output):
        if hasattr(module, function.__name__):
            setattr(module, function.__name__, function)
    if hasattr(module, "DisplayHandle"):
        module.DisplayHandle = DisplayHandle


# --- matplotlib ------------------------------------------------------------------------------------------------------


def use_agg(matplotlib):
    if not os.environ.get("MPLBACKEND"):
        matplotlib.use("agg")


def show_in_session(pyplot):
    original = pyplot.show

    def show(*args, **kwargs):
        if not shows_pictures(pyplot):
            return original(*args, **kwargs)
        show_figures()

    pyplot.show = disguised(show, original)


def shows_pictures(pyplot):
    """The backend has no windows of its own."""
    return pyplot.get_backend().lower() in ("agg", "module://matplotlib.backends.backend_agg")


def figure_png(figure):
    target = io.BytesIO()
    figure.savefig(target, format="png", bbox_inches="tight", facecolor=figure.get_facecolor())
    return target.getvalue()


def show_figures():
    """Shows the open figures, each once, and closes them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or in_child() or not hasattr(pyplot, "get_fignums") or not shows_pictures(pyplot):
        return
    for number in pyplot.get_fignums():
        display(pyplot.figure(number))


def forget_figure(value):
    """A figure that was shown is not shown again at the run's end."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    figure = sys.modules.get("matplotlib.figure")
    if pyplot is not None and figure is not None and isinstance(value, figure.Figure) and shows_pictures(pyplot):
        pyplot.close(value)


# --- Source lines, for tracebacks ------------------------------------------------------------------------------------


class Sources:
    """The text of what was run, at its lines, for `linecache`: an editor's text need not be on disk."""

    KEPT = 1000  # pieces without a file

    def __init__(self):
        self.pieces = {}  # by file name: [(first line, text)]
        self.changed_at = {}  # by file name: the file's time of change when its lines were read
        self.anonymous = []

    def remember(self, name, line, text, anonymous):
        lines = text.count("\n") + 1
        pieces = self.pieces.setdefault(name, [])
        pieces[:] = [
            (first, old) for first, old in pieces if first < line or first + old.count("\n") + 1 > line + lines
        ]
        pieces.append((line, text))
        if anonymous:
            self.anonymous.append(name)
            if len(self.anonymous) > self.KEPT:
                self.forget(self.anonymous.pop(0))
        linecache = sys.modules.get("linecache")
        if linecache is not None and hasattr(linecache, "cache"):
            self.install(linecache, name, pieces[-1:])

    def forget(self, name):
        self.pieces.pop(name, None)
        linecache = sys.modules.get("linecache")
        if linecache is not None:
            linecache.cache.pop(name, None)

    def install_all(self, linecache):
        for name in list(self.pieces):
            self.install(linecache, name, self.pieces[name])

    def install(self, linecache, name, latest):
        changed_at = None
        if not name.startswith("<"):
            try:
                changed_at = os.stat(name).st_mtime_ns
            except (OSError, ValueError):
                pass  # Not on disk, or not any more.
        entry = linecache.cache.get(name)
        if entry is None or len(entry) == 1 or entry[1] is not None or self.changed_at.get(name) != changed_at:
            linecache.cache.pop(name, None)
            lines = list(linecache.updatecache(name)) if changed_at is not None else []
            latest = self.pieces[name]
        else:
            lines = entry[2]
        self.changed_at[name] = changed_at
        for first, text in latest:
            new = io.StringIO(text, newline=None).readlines()
            if new and not new[-1].endswith("\n"):
                new[-1] += "\n"
            lines.extend(["\n"] * (first - 1 - len(lines)))
            lines[first - 1 : first - 1 + len(new)] = new
        # Without a time of change, checkcache() leaves the entry alone.
        linecache.cache[name] = (sum(map(len, lines)), None, lines, name)


sources = Sources()


# --- Compiling -------------------------------------------------------------------------------------------------------

ONLY_AST = 0x400  # ast.PyCF_ONLY_AST
TOP_LEVEL_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
COROUTINE = 0x80  # inspect.CO_COROUTINE


def indentation(line):
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def first_indentation(code):
    for line in code.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return indentation(line)
    return ""


def parse(code, name, line, flags):
    """The statements of the code, and whether the last one's value is wanted.

    A piece from inside a block is never dedented, which would change its strings: lines that say `if 1:` go before it,
    as many as it has indentations, in place of lines that the file has there anyway.
    """
    inner = first_indentation(code)
    blocks = [""] if inner else []
    while True:
        surplus = max(0, len(blocks) - (line - 1))
        above = "\n" * (line - 1 + surplus - len(blocks))
        source = above + "".join(block + "if 1:\n" for block in blocks) + code
        try:
            tree = compile(source, name, "exec", flags | ONLY_AST | TOP_LEVEL_AWAIT, True)
            break
        except SyntaxError as error:
            outer = outer_indentation(error, source)
            if not blocks or outer in blocks or not 0 < len(outer) < len(inner):
                move_up(error, surplus)
                raise error.with_traceback(None) from None
            blocks = sorted(blocks + [outer], key=len)
    statements = tree.body
    for _ in blocks:
        statements[:1] = statements[0].body if not statements[0].orelse else statements[:1]
    value_wanted = (
        bool(statements)
        and isinstance(statements[-1], _ast.Expr)
        and not ends_in_semicolon(source, statements[-1].value)
    )
    if surplus:
        move_up(tree, surplus)
    return tree, value_wanted


def outer_indentation(error, source):
    """The indentation of the line that goes back further than the piece began; empty for other errors."""
    if isinstance(error, IndentationError) and str(error.msg).startswith("unindent") and error.lineno:
        lines = source.splitlines()
        if error.lineno <= len(lines):
            return indentation(lines[error.lineno - 1])
    return ""


def move_up(node, count):
    """Takes lines that we put above away from the line numbers of a tree or a SyntaxError."""
    nodes = [node]
    while nodes:
        node = nodes.pop()
        for attribute in ("lineno", "end_lineno"):
            number = getattr(node, attribute, None)
            if number:
                setattr(node, attribute, max(1, number - count))
        for field in getattr(node, "_fields", ()):
            child = getattr(node, field, None)
            nodes.extend(item for item in (child if isinstance(child, list) else [child]) if isinstance(item, _ast.AST))


def ends_in_semicolon(source, expression):
    """What follows a last expression is brackets, comments and perhaps the semicolon that suppresses its value."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")[expression.end_lineno - 1 :]
    lines[0] = lines[0].encode("utf-8", "surrogatepass")[expression.end_col_offset :].decode("utf-8", "replace")
    return any(";" in line.partition("#")[0] for line in lines)


class Compiler:
    """Compiles pieces of a session. Future statements hold for the pieces that follow, as at any prompt."""

    def __init__(self):
        self.flags = 0

    def compile(self, code, name, line):
        """The code objects of the statements and of the last expression, whose value is the run's (else None)."""
        tree, value_wanted = parse(code, name, line, self.flags)
        last = _ast.Expression(tree.body.pop().value) if value_wanted else None
        codes = []
        if tree.body:
            body = compile(tree, name, "exec", self.flags | TOP_LEVEL_AWAIT, True)
            codes.append(body)
            if "__future__" in code:
                import __future__

                for feature in __future__.all_feature_names:
                    self.flags |= body.co_flags & getattr(__future__, feature).compiler_flag
        if last is not None:
            codes.append(compile(last, name, "eval", self.flags | TOP_LEVEL_AWAIT, True))
        return codes


compiler = Compiler()


# --- Running ---------------------------------------------------------------------------------------------------------


get_folder = os.getcwd


def working_directory():
    try:
        return get_folder()
    except OSError:
        return None  # It has been removed.


class Session:
    """The user's `__main__`, what counts its runs, and the event loop that lives as long."""

    def __init__(self):
        self.main = type(sys)("__main__")
        self.main.__builtins__ = builtins
        self.loop = None
        self.anonymous_runs = 0
        self.told_folder = working_directory()

    def perform(self, code, file, line):
        name = file
        if name is None:
            self.anonymous_runs += 1
            name = "<run %d>" % self.anonymous_runs
        sources.remember(name, line, code, file is None)
        namespace = self.main.__dict__
        with AsFile(namespace, file):
            try:
                value = self.evaluate(compiler.compile(code, name, line), namespace)
                outlet.holding = True
                sys.displayhook(value)
            finally:
                outlet.holding = False
                show_figures()

    def evaluate(self, codes, namespace):
        """The value of the last of the code objects. Where one awaits, all run inside the loop."""
        if any(code.co_flags & COROUTINE for code in codes):
            return self.complete(evaluate_awaiting(codes, namespace))
        if "asyncio" in sys.modules:
            self.set_loop(sys.modules["asyncio"])
        value = None
        for code in codes:
            value = eval(code, namespace)
        return value

    def set_loop(self, asyncio):
        """Makes the loop current, for code that makes tasks without awaiting; asyncio.run() takes that away."""
        if get_ident() == MAIN_THREAD and hasattr(asyncio, "set_event_loop"):
            if self.loop is None or self.loop.is_closed():
                self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)

    def complete(self, coroutine):
        """Runs the loop until the coroutine is over. Other tasks go on meanwhile, and rest when it is."""
        import asyncio

        self.set_loop(asyncio)
        loop = self.loop
        outcome = []

        async def supervise():
            try:
                outcome[:] = [await coroutine, None]
            except BaseException as error:
                outcome[:] = [None, error]

        task = loop.create_task(supervise())
        task.add_done_callback(lambda _: loop.stop())
        interrupted = False
        while not task.done():
            try:
                loop.run_forever()
            except KeyboardInterrupt:
                interrupted = True
                task.cancel()
        if not outcome:  # Cancelled before its first step.
            coroutine.close()
            raise KeyboardInterrupt
        value, error = outcome
        if interrupted and isinstance(error, asyncio.CancelledError):
            raise KeyboardInterrupt().with_traceback(error.__traceback__) from None
        if error is not None:
            raise error
        return value


async def evaluate_awaiting(codes, namespace):
    value = None
    for code in codes:
        value = eval(code, namespace)
        if code.co_flags & COROUTINE:
            value = await value
    return value


class AsFile:
    """`__file__` while code from a file runs; what lies beside the file can be imported from then on."""

    def __init__(self, namespace, file):
        self.namespace = namespace
        self.file = file

    def __enter__(self):
        if self.file is not None:
            self.namespace["__file__"] = self.file
            folder = os.path.dirname(self.file)
            if os.path.isabs(folder) and folder not in sys.path:
                sys.path.append(folder)  # Last: a neighbour must not stand in for the standard library.

    def __exit__(self, *exc_info):
        if self.file is not None:
            self.namespace.pop("__file__", None)


def describe(error):
    """(name, value, traceback) of what user code raised, without our frames."""
    import traceback

    value = text_of(error)
    try:
        report = traceback.TracebackException(type(error), error, error.__traceback__)
        without_our_frames(report, set())
        if isinstance(error, SystemExit) or (isinstance(error, SyntaxError) and not report.stack):
            text = "".join(report.format_exception_only())
        else:
            text = "".join(report.format())
    except Exception as trouble:
        text = "%s: %s\n(no traceback: %s)" % (type(error).__name__, value, type(trouble).__name__)
    return type(error).__name__, shortened(value), shortened(text)


def without_our_frames(report, seen):
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    report.stack[:] = [frame for frame in report.stack if frame.filename != RUNNER]
    for related in [report.__cause__, report.__context__] + list(getattr(report, "exceptions", None) or ()):
        without_our_frames(related, seen)


def shortened(text):
    if len(text) <= LONG_TRACEBACK:
        return text
    head, tail = text[: LONG_TRACEBACK // 3], text[-LONG_TRACEBACK * 2 // 3 :]
    return "%s\n… %d characters …\n%s" % (head, len(text) - len(head) - len(tail), tail)


session = Session()


def execute(request):
    """One run, from its frame to its `done`."""
    run = request["id"]
    context_run.set(run)
    thread_runs[MAIN_THREAD] = run
    questions.run = run if request.get("stdin") else None
    questions.refused = False
    _, problem = attempt(lambda: begin(request))
    if in_child():
        leave_child(problem)
    interrupts.listen()
    failed = problem is not None and not (isinstance(problem, SystemExit) and problem.code in (None, 0))
    if failed:
        sys.last_type, sys.last_value, sys.last_traceback = type(problem), problem, problem.__traceback__
        told, trouble = attempt(lambda: describe(problem))
        name, value, traceback = told or (type(problem).__name__, "", "%s\n" % type(problem).__name__)
        outlet.emit(encode({"op": "error", "run": run, "name": name, "value": value, "traceback": traceback}))
        interrupts.listen()
    flush_c_output()
    done = {
        "op": "done",
        "run": run,
        "status": "error" if failed else "ok",
        "interrupted": isinstance(problem, KeyboardInterrupt),
        "stdinRequested": questions.refused,
    }
    folder = working_directory()
    if folder is not None and folder != session.told_folder:
        session.told_folder = done["cwd"] = folder
    questions.close()
    context_run.set(None)
    thread_runs[MAIN_THREAD] = None
    outlet.emit(encode(done))


def begin(request):
    outlet.emit('{"op":"begun","run":%s}' % encode(request["id"]), at_once=True)
    session.perform(request["code"], request.get("file"), request.get("line") or 1)


def flush_c_output():
    """Empties the C library's own buffer, where ctypes, which most C code that prints brings along, is there anyway."""
    ctypes = sys.modules.get("ctypes")
    if ctypes is None or os.name != "posix":
        return
    try:
        ctypes.CDLL(None).fflush(None)
    except (AttributeError, OSError):
        pass  # No C library under that name: then there is nothing to flush either.


def leave_child(problem):
    """A fork that ran to the end of the user's code: it is no session."""
    code = 0
    if isinstance(problem, SystemExit):
        code = problem.code
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    elif problem is not None:
        sys.stderr.write(describe(problem)[2])
        code = 1
    flush_streams()
    os_exit(code or 0)


# --- The control descriptor ------------------------------------------------------------------------------------------

requests = SimpleQueue()
pings = SimpleQueue()


def answer_pings():
    """Life of the thread that says that the interpreter still runs. Not of the one that listens: it may have to wait."""
    while True:
        pings.get()
        outlet.emit('{"op":"pong"}', at_once=True)


def control_frames():
    """Yields the host's frames as they come. Their end ends everything."""
    data = bytearray()
    while True:
        while len(data) >= 4:
            end = 4 + int.from_bytes(data[:4], "big")
            if len(data) < end:
                break
            frame, _ = scan(data[4:end].decode("ascii"), 0)
            del data[:end]
            yield frame
        try:
            piece = os.read(control_fd, 1 << 20)
        except OSError:
            piece = b""
        if not piece:
            end_group()
        data += piece


def listen():
    """Life of the thread that reads control frames. It touches no user code, so nothing there can hold it up."""
    try:
        for frame in control_frames():
            op = frame["op"]
            if op in ("execute", "exit"):
                requests.put(frame)
            elif op == "input":
                questions.answers.put((frame["id"], frame["text"]))
            elif op == "ping":
                pings.put(None)
            elif op == "interrupt":
                _thread.interrupt_main()
                questions.answers.put((None, None))  # Wakes a wait that no signal can reach on Windows.
    except Exception as error:
        end_group("a bad control frame (%r)" % error)


def prepare():
    """Puts everything in its place, and says that the runner is ready."""
    faulthandler.enable(2, all_threads=False)
    _signal.signal, _signal.getsignal = set_handler, get_handler
    interrupts.listen()
    sys.stdout = sys.__stdout__ = Stream("stdout", 1)
    sys.stderr = sys.__stderr__ = Stream("stderr", 2)
    sys.stdin = sys.__stdin__ = Stdin()
    sys.displayhook = sys.__displayhook__ = show_result
    builtins.input = ask_for_input
    builtins.display = display
    builtins.clear_output = clear_output
    sys.modules["__main__"] = session.main
    sys.argv[:] = [""]
    if sys.path and os.path.abspath(sys.path[0]) == os.path.dirname(os.path.abspath(RUNNER)):
        sys.path[0] = ""
    atexit.register(outlet.close)  # First in, last out.
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=before_fork, after_in_parent=lambda: outlet.lock.release(), after_in_child=after_fork_in_child
        )
    inherit_runs_in_threads()
    settle_before_bypasses()
    sys.meta_path.insert(0, after_import)
    after_import.watch("linecache", sources.install_all)
    after_import.watch("asyncio", session.set_loop)
    after_import.watch("subprocess", lambda module: settle_before(module.Popen, "_execute_child"))
    after_import.watch("concurrent.futures.thread", inherit_runs_in_executors)
    after_import.watch("getpass", lambda module: setattr(module, "getpass", ask_for_password))
    after_import.watch("matplotlib", use_agg)
    after_import.watch("matplotlib.pyplot", show_in_session)
    after_import.watch("IPython.core.display", route_ipython_displays)
    after_import.watch("IPython.core.display_functions", route_ipython_displays)
    start_new_thread(outlet.send_late_text, ())
    start_new_thread(answer_pings, ())
    start_new_thread(listen, ())
    ready = {
        "op": "ready",
        "pid": PID,
        "language": "python",
        "version": "%d.%d.%d" % sys.version_info[:3],
        "executable": sys.executable,
        "prefix": sys.prefix,
    }
    outlet.emit(encode(ready))


def serve():
    thread_runs[MAIN_THREAD] = None
    context_run.set(None)
    while True:
        request = requests.get()
        if request["op"] == "exit":
            return
        execute(request)


standard_streams = sys.stdin, sys.stdout, sys.stderr  # Kept: closing them would close the descriptors.
prepare()
serve()
