"""The least a retained Python session can be: one JSON line in, one JSON line out. A peer for the benchmarks."""

import contextlib
import io
import json
import sys

namespace = {"__name__": "__main__"}
for line in sys.stdin:
    request = json.loads(line)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            value = eval(request["code"], namespace)
        except SyntaxError:
            value = exec(request["code"], namespace)
    sys.stdout.write(json.dumps({"value": repr(value), "output": output.getvalue()}) + "\n")
    sys.stdout.flush()
